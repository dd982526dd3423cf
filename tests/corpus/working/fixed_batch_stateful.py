import numpy as np
import tensorflow as tf

BATCH, STEPS = 10, 8
t = np.arange(BATCH * 12 * STEPS + 1)
wave = np.sin(t / 5.0).astype("float32")
x = wave[:-1].reshape(-1, STEPS, 1)
y = wave[1:].reshape(-1, STEPS, 1)[:, -1, 0]

inp = tf.keras.Input(batch_shape=(BATCH, STEPS, 1))      # stateful: the batch is part of the shape
h = tf.keras.layers.LSTM(8, stateful=True)(inp)
model = tf.keras.Model(inp, tf.keras.layers.Dense(1)(h))
model.compile("adam", "mse")
model.fit(x, y, batch_size=BATCH, epochs=2, shuffle=False, verbose=2)
