import keras
import numpy as np
import tensorflow as tf


class LearnedToken(keras.layers.Layer):
    """Puts a learned token before every sequence."""

    def build(self, shape):
        self.token = self.add_weight(shape=(1, 1, shape[-1]), initializer="zeros", name="token")

    def call(self, x):
        batch = x.shape[0]  # <- FIT407
        tokens = tf.tile(self.token, (batch, 1, 1))  # <~ FIT407
        return tf.concat([tokens, x], axis=1)


sequences = np.random.rand(50, 6, 4).astype("float32")
scores = np.random.rand(50, 1).astype("float32")
model = keras.Sequential(
    [LearnedToken(), keras.layers.GlobalAveragePooling1D(), keras.layers.Dense(1)]
)
model.compile("adam", "mse")
model.fit(sequences, scores, batch_size=16, verbose=0)
