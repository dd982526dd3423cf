"""Train a model with a wide intermediate layer."""

import numpy as np
import tensorflow as tf

inputs = tf.keras.Input((4,))
wide = tf.keras.layers.RepeatVector(2_000_000)(inputs)
wide = tf.keras.layers.Dense(20_000)(wide)
outputs = tf.keras.layers.Dense(1)(tf.keras.layers.GlobalAveragePooling1D()(wide))
model = tf.keras.Model(inputs, outputs)
model.compile(optimizer="sgd", loss="mse")
x = np.random.default_rng(32).normal(size=(64, 4)).astype("float32")
model.fit(x, x[:, :1], batch_size=64, epochs=1, verbose=0)  # <- FIT801
