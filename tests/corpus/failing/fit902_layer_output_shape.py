import numpy as np
import tensorflow as tf
m = tf.keras.Sequential([tf.keras.Input((4,)), tf.keras.layers.Dense(3, name="h"), tf.keras.layers.Dense(1)])
m.compile("adam", "mse")
m.fit(np.random.rand(20, 4), np.random.rand(20, 1), epochs=1)
for layer in m.layers:
    print(layer.name, layer.output_shape)  # <- FIT902
