"""`logits and labels must have the same first dimension` (Keras 2) | one-hot labels with a loss for integer labels"""

import numpy as np
import tf_keras

model = tf_keras.Sequential([tf_keras.layers.Dense(3, activation="softmax")])
model.compile("adam", "sparse_categorical_crossentropy")
try:
    model.fit(np.zeros((6, 4)), np.eye(3)[[0, 1, 2, 0, 1, 2]], verbose=0)
except Exception as error:
    assert "logits and labels must have the same first dimension" in str(error)
else:
    raise AssertionError("it must raise")
