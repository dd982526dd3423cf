import numpy as np
import tensorflow as tf
from tensorflow.keras.layers import Dense

n_features = 4
x = tf.compat.v1.placeholder(tf.float32, shape=(None, n_features), name="x")  # <- FIT406
h = Dense(16, activation="relu")(x)
out = Dense(1)(h)
model = tf.keras.Model(x, out)
model.compile(optimizer="adam", loss="mse")

data = np.random.default_rng(0).normal(size=(100, n_features)).astype("float32")
target = data[:, 0] - data[:, 1]
model.fit(data, target, epochs=2, verbose=2)
