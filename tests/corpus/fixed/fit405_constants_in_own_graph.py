import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

channel_weights = tf.constant([0.2, 0.5, 1.3], dtype=tf.float32, name="channel_weights")


def weighted_error(y_true, y_pred):
    return tf.reduce_mean(tf.square(y_true - y_pred) * channel_weights, axis=-1)


rng = np.random.default_rng(0)
x = rng.normal(size=(120, 4)).astype("float32")
y = np.stack([x[:, 0], x[:, 1] * x[:, 2], np.abs(x[:, 3])], axis=1)

model = tf.keras.Sequential([layers.Input((4,)), layers.Dense(24, activation="relu"), layers.Dense(3)])
model.compile(optimizer="adam", loss=weighted_error)
model.fit(x, y, epochs=2, batch_size=20, verbose=2)
