import numpy as np
import tensorflow as tf

rng = np.random.default_rng(12)
x = rng.normal(size=(150, 8)).astype("float32")
age = (x[:, 0] * 0.3).astype("float32")
sex = (x[:, 1] > 0).astype("float32")

inputs = tf.keras.Input((8,))
h = tf.keras.layers.Dense(16, activation="relu")(inputs)
age_out = tf.keras.layers.Dense(1, name="age")(h)
sex_out = tf.keras.layers.Dense(1, activation="sigmoid", name="sex")(h)
model = tf.keras.Model(inputs, [age_out, sex_out])

losses = ["mse", "binary_crossentropy", "mse"]  # <- FIT216
model.compile(optimizer=tf.keras.optimizers.Adam(1e-3), loss=losses)
ds = tf.data.Dataset.from_tensor_slices((x, (age, sex))).shuffle(150).batch(15)
model.fit(ds, epochs=2, verbose=2)
