"""Programs that import `tensorflow.keras` get Keras 3 without a change of their own

Install `tf_keras` and set `TF_USE_LEGACY_KERAS=1` before TensorFlow is imported.
"""

import os
import subprocess
import sys

ASK = "import tensorflow as tf; from tensorflow import keras; print(keras.Model.__module__)"


def package(**variables):
    environment = {name: value for name, value in os.environ.items() if name != "TF_USE_LEGACY_KERAS"}
    done = subprocess.run([sys.executable, "-c", ASK], env={**environment, **variables}, capture_output=True)
    return done.stdout.decode()


assert package().startswith("keras.")  # Keras 3
assert package(TF_USE_LEGACY_KERAS="1").startswith("tf_keras.")
