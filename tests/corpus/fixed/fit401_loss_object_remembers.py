import numpy as np
import tensorflow as tf
from tensorflow import keras


class SmoothedMSE(keras.losses.Loss):
    """Blends the error with that of the batch before."""

    def __init__(self, momentum=0.5):
        super().__init__(name="smoothed_mse")
        self.momentum = momentum
        self.previous = tf.Variable(-1.0, trainable=False)

    def call(self, y_true, y_pred):
        mse = tf.reduce_mean(tf.square(y_true - y_pred))
        known = tf.where(self.previous < 0.0, tf.stop_gradient(mse), self.previous)
        self.previous.assign(tf.stop_gradient(mse))
        return (1 - self.momentum) * mse + self.momentum * known


rng = np.random.default_rng(4)
x = rng.normal(size=(180, 5)).astype("float32")
y = np.tanh(x[:, :1])
model = keras.Sequential([keras.Input((5,)), keras.layers.Dense(16, activation="relu"), keras.layers.Dense(1)])
model.compile("adam", loss=SmoothedMSE())
model.fit(x, y, epochs=2, batch_size=20, validation_split=0.1, verbose=2)
