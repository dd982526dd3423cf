"""`ValueError: Unable to import backend : …`"""

import os
import subprocess
import sys

environment = {**os.environ, "KERAS_BACKEND": "theano"}
done = subprocess.run([sys.executable, "-c", "import keras"], env=environment, capture_output=True, text=True)
assert "ValueError: Unable to import backend : theano" in done.stderr
