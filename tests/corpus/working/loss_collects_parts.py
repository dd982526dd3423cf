import numpy as np
import tensorflow as tf
def multi_scale(y_true, y_pred):
    parts = []
    for s in (1, 2):
        a = y_true[:, ::s]
        b = y_pred[:, ::s]
        parts.append(tf.reduce_mean((a - b) ** 2))
    out = {}
    out["total"] = tf.add_n(parts)
    return out["total"]
m = tf.keras.Sequential([tf.keras.Input((8,)), tf.keras.layers.Dense(4)])
m.compile("adam", multi_scale)
m.fit(np.random.rand(16, 8), np.random.rand(16, 4), verbose=0)
