import numpy as np
import tensorflow as tf
from tensorflow.keras import layers, Model


class Siamese(Model):
    def __init__(self):
        super().__init__()
        self.encoder = tf.keras.Sequential([layers.Dense(16, activation="relu"), layers.Dense(8)])
        self.classifier = layers.Dense(1, activation="sigmoid")

    def call(self, inputs):
        left, right = inputs
        diff = tf.abs(self.encoder(left) - self.encoder(right))
        return self.classifier(diff)


rng = np.random.default_rng(0)
centers = rng.normal(size=(4, 5)) * 2
a, b = rng.integers(0, 4, (2, 200))
left = (centers[a] + 0.2 * rng.normal(size=(200, 5))).astype("float32")
right = (centers[b] + 0.2 * rng.normal(size=(200, 5))).astype("float32")
same = (a == b).astype("float32")

model = Siamese()
model.compile(optimizer="adam", loss="binary_crossentropy", metrics=["accuracy"])
model.fit([left, right], same, batch_size=20, epochs=2, verbose=2)
