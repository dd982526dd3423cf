import keras
import numpy as np
from keras import layers

backbone = keras.Sequential([keras.Input((10,)), layers.Dense(32, activation="relu"), layers.Dense(16)])
inputs = keras.Input((10,))
outputs = layers.Dense(1, activation="sigmoid", name="head")(backbone(inputs))
classifier = keras.Model(inputs, outputs)
classifier.trainable = False  # <- FIT311
classifier.compile(optimizer="adam", loss="binary_crossentropy", metrics=["accuracy"])

rng = np.random.default_rng(0)
measurements = rng.normal(size=(200, 10)).astype("float32")
accepted = (measurements[:, 0] > 0).astype("float32")
classifier.fit(measurements, accepted, epochs=2, verbose=0)
