import numpy as np
import tensorflow as tf

step = 0

def annealed_mse(y_true, y_pred):
    global step
    step += 1  # <- FIT409
    w = min(1.0, step / 100)  # <~ FIT409
    return w * tf.reduce_mean(tf.square(y_true - y_pred))

m = tf.keras.Sequential([tf.keras.Input((6,)), tf.keras.layers.Dense(1)])
m.compile("adam", annealed_mse)
m.fit(np.random.rand(128, 6), np.random.rand(128, 1), epochs=2, verbose=0)
