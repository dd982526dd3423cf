"""Three quantiles from one target: (n, 1) against (n, 3) is meant."""
import numpy as np
import tensorflow as tf

QUANTILES = tf.constant([[0.1, 0.5, 0.9]])


def pinball(y_true, y_pred):
    err = y_true - y_pred                       # (batch, 1) - (batch, 3)
    return tf.reduce_mean(tf.maximum(QUANTILES * err, (QUANTILES - 1.0) * err), axis=-1)


rng = np.random.default_rng(0)
x = rng.uniform(-1, 1, (240, 2)).astype("float32")
y = (x[:, :1] + 0.2 * rng.normal(size=(240, 1))).astype("float32")

model = tf.keras.Sequential([
    tf.keras.layers.Input((2,)),
    tf.keras.layers.Dense(16, activation="relu"),
    tf.keras.layers.Dense(3),
])
model.compile(optimizer="adam", loss=pinball)
model.fit(x, y, epochs=3, batch_size=24, verbose=2)
