import numpy as np
import tensorflow as tf

rng = np.random.default_rng(5)
pixels = rng.random((100, 12, 12, 1)).astype("float32")
bright = (pixels.mean(axis=(1, 2, 3)) > 0.5).astype("float32")

image = tf.keras.Input(shape=(12, 12, 1))
h = tf.keras.layers.Conv2D(8, 3, activation="relu")(image)
h = tf.keras.layers.Flatten()(h)
answer = tf.keras.layers.Dense(1, activation="sigmoid")(h)
model = tf.keras.Model(image, answer)
model.compile(optimizer="adam", loss="binary_crossentropy")
model.fit(pixels, bright, epochs=1, verbose=0)
