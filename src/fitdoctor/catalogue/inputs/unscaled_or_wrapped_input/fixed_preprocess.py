"""Pass images from 0 to 255 to a model that prepares them for its network."""

import keras
import numpy as np

rng = np.random.default_rng(4)
images = rng.integers(0, 256, (24, 32, 32, 3))
labels = rng.integers(0, 2, 24)

inputs = keras.Input((32, 32, 3))
prepared = keras.applications.mobilenet_v2.preprocess_input(inputs)
features = keras.layers.Conv2D(8, 3, activation="relu")(prepared)
pooled = keras.layers.GlobalAveragePooling2D()(features)
model = keras.Model(inputs, keras.layers.Dense(1, activation="sigmoid")(pooled))
model.compile(optimizer="adam", loss="binary_crossentropy")
model.fit(images.astype("float32"), labels, epochs=1, verbose=0)
