import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

base = tf.keras.Sequential([
    layers.Input((8,)),
    layers.Dense(32, activation="relu", name="feat1"),
    layers.Dense(16, activation="relu", name="feat2"),
], name="base")

inputs = tf.keras.Input((8,))
outputs = layers.Dense(1, name="head")(base(inputs))
model = tf.keras.Model(inputs, outputs)
model.compile(optimizer="adam", loss="mse")

rng = np.random.default_rng(5)
x = rng.normal(size=(200, 8)).astype("float32")
y_source = (x ** 2).sum(axis=1) / 8
y_target = np.abs(x[:, :4]).sum(axis=1) / 4

model.fit(x, y_source, epochs=2, verbose=0)

# now only the head, on the small target task
base.trainable = False
model.compile(optimizer="adam", loss="mse")
before = base.get_layer("feat1").kernel.numpy().copy()
model.fit(x[:60], y_target[:60], epochs=2, verbose=0)
print("base moved by", np.abs(base.get_layer("feat1").kernel.numpy() - before).max())
