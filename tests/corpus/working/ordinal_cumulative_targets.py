import numpy as np
import keras
from keras import layers

LEVELS = 5


def to_cumulative(grade):
    """grade 3 of 0..4 -> [1, 1, 1, 0]"""
    return (grade[:, None] > np.arange(LEVELS - 1)[None, :]).astype("float32")


class OrdinalNet(keras.Model):
    def __init__(self):
        super().__init__()
        self.h = layers.Dense(16, activation="relu")
        self.thresholds = layers.Dense(LEVELS - 1, activation="sigmoid")

    def call(self, x):
        return self.thresholds(self.h(x))


rng = np.random.default_rng(1)
x = rng.normal(size=(220, 5)).astype("float32")
grade = np.digitize(x[:, 0] + 0.3 * x[:, 1], [-1.0, -0.3, 0.3, 1.0])
net = OrdinalNet()
net.compile(optimizer="adam", loss="binary_crossentropy", metrics=["binary_accuracy"])
net.fit(x, to_cumulative(grade), epochs=2, batch_size=22, verbose=2)
