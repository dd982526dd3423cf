import tensorflow as tf
import numpy as np
from tensorflow.keras import layers


class UncertaintyLoss(tf.keras.losses.Loss):
    """Kendall et al.: learned noise level."""

    def __init__(self):
        super().__init__()
        self.log_sigma = tf.Variable(0.0, trainable=True, name="log_sigma")  # <- FIT503

    def call(self, y_true, y_pred):
        precision = tf.exp(-2.0 * self.log_sigma)
        return precision * tf.square(y_true - y_pred) + self.log_sigma


rng = np.random.default_rng(0)
x = rng.normal(size=(256, 4)).astype("float32")
y = (x.sum(axis=1, keepdims=True) + rng.normal(0, 0.3, (256, 1))).astype("float32")

model = tf.keras.Sequential([layers.Input((4,)), layers.Dense(16, activation="relu"), layers.Dense(1)])
loss = UncertaintyLoss()
model.compile(optimizer="adam", loss=loss)
model.fit(x, y, epochs=3, batch_size=32, verbose=0)
print("sigma", float(tf.exp(loss.log_sigma)))
