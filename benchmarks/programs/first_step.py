"""Times `check` and then the first training step of the same fit, for a functional ResNet50 or a subclassed twin."""

import json
import sys
import time

import keras
import numpy as np

import fitdoctor

CLASSES = 1000


class Bottleneck(keras.layers.Layer):
    """The block that ResNet50 is made of."""

    def __init__(self, filters, stride=1, shortcut=False):
        super().__init__()
        self.convolutions = [
            keras.layers.Conv2D(filters, 1, stride),
            keras.layers.Conv2D(filters, 3, padding="same"),
            keras.layers.Conv2D(4 * filters, 1),
        ]
        self.norms = [keras.layers.BatchNormalization() for _ in self.convolutions]
        self.shortcut = keras.layers.Conv2D(4 * filters, 1, stride) if shortcut else None

    def call(self, inputs, training=False):
        x = inputs
        for index, (convolution, norm) in enumerate(zip(self.convolutions, self.norms, strict=True)):
            x = norm(convolution(x), training=training)
            x = keras.activations.relu(x) if index < 2 else x
        kept = inputs if self.shortcut is None else self.shortcut(inputs)
        return keras.activations.relu(x + kept)


class Residual(keras.Model):
    """ResNet50's layers, held by a subclassed model."""

    def __init__(self):
        super().__init__()
        self.stem = keras.layers.Conv2D(64, 7, 2, padding="same")
        self.pool = keras.layers.MaxPooling2D(3, 2)
        self.blocks = [
            Bottleneck(filters, stride if first else 1, shortcut=first)
            for filters, count, stride in ((64, 3, 1), (128, 4, 2), (256, 6, 2), (512, 3, 2))
            for first in (index == 0 for index in range(count))
        ]
        self.average = keras.layers.GlobalAveragePooling2D()
        self.head = keras.layers.Dense(CLASSES)

    def call(self, inputs, training=False):
        x = self.pool(self.stem(inputs))
        for block in self.blocks:
            x = block(x, training=training)
        return self.head(self.average(x))


def timed(work):
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


model = (
    Residual()
    if sys.argv[1] == "subclassed"
    else keras.applications.ResNet50(weights=None, classifier_activation=None)
)
model.compile("sgd", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
x = np.random.default_rng(0).random((64, 224, 224, 3), dtype="float32")
y = np.arange(64) % CLASSES

check = timed(lambda: fitdoctor.check(model, x, y, batch_size=8))
fit = timed(lambda: model.fit(x, y, batch_size=8, steps_per_epoch=1, verbose=0))
print(json.dumps({"check": check, "fit": fit}))
