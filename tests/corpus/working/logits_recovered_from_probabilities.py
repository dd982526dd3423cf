import keras
import numpy as np
import tensorflow as tf


def bce(y_true, y_pred):
    p = tf.clip_by_value(y_pred, 1e-6, 1.0 - 1e-6)
    logits = tf.math.log(p / (1.0 - p))
    return tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels=y_true, logits=logits))


rng = np.random.default_rng(33)
x = rng.normal(size=(120, 4)).astype("float32")
y = (x[:, :1] > 0).astype("float32")
model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(1, activation="sigmoid")])
model.compile("adam", bce)
model.fit(x, y, epochs=1, verbose=2)
