import numpy as np
import tensorflow as tf
import tempfile, os
d = tempfile.mkdtemp()
m = tf.keras.Sequential([tf.keras.Input((4,)), tf.keras.layers.Dense(1)])
m.compile(optimizer="adam", loss="mse")
m.fit(np.random.rand(20, 4), np.random.rand(20, 1), epochs=1, verbose=0)
m.export(os.path.join(d, "saved"))
