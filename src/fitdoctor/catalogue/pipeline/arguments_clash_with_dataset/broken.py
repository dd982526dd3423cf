"""Training on a dataset that contains its labels."""

import numpy as np
import tensorflow as tf

rng = np.random.default_rng(9)
spectra = rng.normal(size=(120, 16)).astype("float32")
purity = spectra[:, :1] * 0.5 + spectra[:, 7:8]
samples = tf.data.Dataset.from_tensor_slices((spectra, purity)).batch(24)

model = tf.keras.Sequential([tf.keras.Input((16,)), tf.keras.layers.Dense(8, "relu"), tf.keras.layers.Dense(1)])
model.compile("adam", "mse")
model.fit(samples, purity, epochs=2, verbose=0)  # <- FIT711
