import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

rng = np.random.default_rng(0)
y = rng.integers(0, 2, 120)
x = rng.integers(0, 100, (120, 18, 18, 3), dtype=np.uint8)
x[y == 1, 6:12, 6:12] += 120

model = tf.keras.Sequential([
    layers.Input((18, 18, 3)),
    layers.Rescaling(1.0 / 255),
    layers.Conv2D(8, 3, activation="relu"),
    layers.GlobalAveragePooling2D(),
    layers.Dense(1, activation="sigmoid"),
])
model.compile("adam", "binary_crossentropy", metrics=["accuracy"])
model.fit(x, y, epochs=2, batch_size=20, verbose=2)
