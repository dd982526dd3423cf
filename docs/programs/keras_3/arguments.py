"""`Adam(lr=…)`, `fit_generator`, `predict_classes` | `learning_rate`, `fit`, `predict` with `argmax`"""

import keras
import tf_keras

for missing in ("fit_generator", "predict_classes"):
    assert not hasattr(keras.Sequential, missing)
assert hasattr(tf_keras.Sequential, "fit_generator")
try:
    keras.optimizers.Adam(lr=0.1)
except ValueError as error:
    assert "Argument(s) not recognized: {'lr': 0.1}" in str(error)
else:
    raise AssertionError("it must raise")
keras.optimizers.Adam(learning_rate=0.1)
tf_keras.optimizers.legacy.Adam(lr=0.1)
