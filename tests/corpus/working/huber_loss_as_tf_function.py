import numpy as np
import tensorflow as tf
from tensorflow.keras.layers import Dense, Input


@tf.function
def switching_loss(y_true, y_pred):
    """MSE while the batch is bad, MAE once it is good; AutoGraph converts the if."""
    e = y_true - y_pred
    mae = tf.reduce_mean(tf.abs(e))
    if mae > 1.0:
        value = tf.reduce_mean(tf.square(e), axis=-1)
    else:
        value = tf.reduce_mean(tf.abs(e), axis=-1)
    return value


rng = np.random.default_rng(1)
x = rng.normal(size=(160, 3)).astype("float32")
y = (3 * x[:, :1] + 1).astype("float32")
model = tf.keras.Sequential([Input((3,)), Dense(8, activation="relu"), Dense(1)])
model.compile("adam", loss=switching_loss)
model.fit(x, y, epochs=2, batch_size=20, verbose=2)
