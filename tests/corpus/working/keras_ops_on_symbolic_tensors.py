import keras
import numpy as np
from keras import layers, ops

inputs = keras.Input((10, 4))
h = layers.Dense(8, activation="relu")(inputs)
weights = ops.softmax(ops.sum(h, axis=-1, keepdims=True), axis=1)
pooled = ops.sum(h * weights, axis=1)
peak = ops.max(inputs, axis=1)
first = inputs[:, 0]
joined = ops.concatenate([pooled, peak, first], axis=-1)
outputs = layers.Dense(1)(joined)

model = keras.Model(inputs, outputs)
model.compile(optimizer="adam", loss="mse")
x = np.random.default_rng(0).normal(size=(120, 10, 4)).astype("float32")
model.fit(x, x[:, :, 0].max(axis=1), epochs=2, batch_size=20, verbose=2)
