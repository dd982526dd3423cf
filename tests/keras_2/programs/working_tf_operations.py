import numpy as np
import tensorflow as tf

inp = tf.keras.Input((6,))
x = tf.nn.relu(tf.matmul(inp, tf.ones((6, 4))))
x = tf.concat([x, tf.reduce_sum(inp, axis=1, keepdims=True)], axis=-1)
out = tf.keras.layers.Dense(1)(x)
m = tf.keras.Model(inp, out)
m.add_loss(tf.reduce_mean(out))
m.compile("adam", "mse")
m.fit(np.random.rand(32, 6), np.random.rand(32, 1), epochs=2, verbose=0)
