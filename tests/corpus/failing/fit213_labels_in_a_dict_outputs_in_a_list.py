import numpy as np
import tensorflow as tf

inp = tf.keras.Input((10,))
h = tf.keras.layers.Dense(16, activation="relu")(inp)
gender = tf.keras.layers.Dense(1, activation="sigmoid", name="gender")(h)
age = tf.keras.layers.Dense(1, name="age")(h)
model = tf.keras.Model(inp, [gender, age])
model.compile("adam", loss={"gender": "binary_crossentropy", "age": "mse"})
rng = np.random.default_rng(0)
X = rng.normal(size=(100, 10))
g = rng.integers(0, 2, 100)
a = rng.uniform(10, 80, 100)
model.fit(X, {"gender": g, "age": a}, class_weight={0: 1.0, 1: 3.0}, epochs=1, verbose=0)  # <- FIT213
