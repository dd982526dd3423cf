import numpy as np
import tensorflow as tf
from tensorflow.keras import layers


def episodes(n=140, steps=12):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(n, steps, 5)).astype("float32")
    y = (x[:, :, 0].max(axis=1) > 1.6).astype("float32")
    return x, y


x, y = episodes()
inp = layers.Input((12, 5))
h = layers.GRU(8, return_sequences=True)(inp)
score = layers.Dense(1)(h)
alpha = layers.Softmax(axis=1)(score)              # over the steps, not over the one unit
context = layers.Flatten()(layers.Dot(axes=1)([alpha, h]))
model = tf.keras.Model(inp, layers.Dense(1, activation="sigmoid")(context))
model.compile("adam", "binary_crossentropy", metrics=["accuracy"])
model.fit(x, y, epochs=2, batch_size=14, verbose=2)
