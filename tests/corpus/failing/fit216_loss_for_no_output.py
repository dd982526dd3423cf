import numpy as np
import tensorflow as tf

L = tf.keras.layers
rng = np.random.default_rng(2)

scan = tf.keras.Input((10,), name="scan")
shared = L.Dense(16, activation="relu")(scan)
model = tf.keras.Model(scan, [L.Dense(1, name="age")(shared), L.Dense(1, activation="sigmoid", name="smoker")(shared)])
model.compile(
    optimizer="adam",
    loss={"age": "mse", "smokes": "binary_crossentropy"},  # <- FIT216
)
people = rng.normal(size=(64, 10)).astype("float32")
answers = {"age": rng.uniform(18, 80, 64), "smoker": rng.integers(0, 2, 64)}
model.fit(people, answers, epochs=1, verbose=2)
