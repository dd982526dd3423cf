import tensorflow as tf
import numpy as np
def rows(i):
    return tf.data.Dataset.from_tensors((tf.random.normal((4,)), tf.constant(1.0)))
ds = tf.data.Dataset.range(100).flat_map(rows)   # <- FIT701
m = tf.keras.Sequential([tf.keras.Input((4,)), tf.keras.layers.Dense(1)])
m.compile("adam", "mse")
m.fit(ds, epochs=1)
