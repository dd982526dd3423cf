import keras
import numpy as np
import tensorflow as tf


class Bce(keras.losses.Loss):
    def __init__(self, from_logits=False):
        super().__init__()
        self.from_logits = from_logits

    def call(self, y_true, y_pred):
        if self.from_logits:
            return tf.nn.sigmoid_cross_entropy_with_logits(labels=y_true, logits=y_pred)
        p = tf.clip_by_value(y_pred, 1e-6, 1.0 - 1e-6)
        return -(y_true * tf.math.log(p) + (1.0 - y_true) * tf.math.log(1.0 - p))


rng = np.random.default_rng(34)
x = rng.normal(size=(120, 4)).astype("float32")
y = (x[:, :1] > 0).astype("float32")
model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(1, activation="sigmoid")])
model.compile("adam", Bce())
model.fit(x, y, epochs=1, verbose=2)
