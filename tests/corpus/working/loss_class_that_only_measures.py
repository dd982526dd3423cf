"""A robustness measure written as a loss class, which the model is only compiled with as a metric."""

import keras
import numpy as np
import tensorflow as tf


class CertifiedAccuracy(keras.losses.Loss):
    def __init__(self, margin=0.1, name="certified_accuracy"):
        super().__init__(name=name)
        self.margin = margin

    def call(self, y_true, y_pred):
        return tf.cast(y_pred * (2.0 * y_true - 1.0) > self.margin, y_pred.dtype)


x = np.random.default_rng(0).random((32, 4)).astype("float32")
y = (x[:, :1] > 0.5).astype("float32")
model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(1)])
model.compile(
    "adam",
    keras.losses.BinaryCrossentropy(from_logits=True),
    metrics=[CertifiedAccuracy(), CertifiedAccuracy(0.5, "half")],
)
model.fit(x, y, epochs=2, verbose=0)
