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

# nothing has been traced yet: Keras 3 reads trainable when it builds the step
base.trainable = False

rng = np.random.default_rng(5)
x = rng.normal(size=(200, 8)).astype("float32")
y = (x ** 2).sum(axis=1) / 8

before = base.get_layer("feat1").kernel.numpy().copy()
model.fit(x, y, epochs=2, verbose=0)
moved = np.abs(base.get_layer("feat1").kernel.numpy() - before).max()
print("base moved by", moved)
assert moved == 0.0
