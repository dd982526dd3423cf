"""A training program with nothing wrong in it: prints how long its steps took."""

import json
import statistics
import sys
import time

import keras
import numpy as np

EPOCHS = int(sys.argv[1])


class Steps(keras.callbacks.Callback):
    """The seconds of each step."""

    def __init__(self):
        super().__init__()
        self.seconds = []

    def on_train_batch_begin(self, batch, logs=None):
        self.began = time.perf_counter()

    def on_train_batch_end(self, batch, logs=None):
        self.seconds.append(time.perf_counter() - self.began)


keras.utils.set_random_seed(0)
random = np.random.default_rng(0)
x = random.random((2_048, 32, 32, 3), dtype="float32")
y = random.integers(0, 10, 2_048)
model = keras.Sequential(
    [
        keras.Input((32, 32, 3)),
        keras.layers.Conv2D(16, 3, activation="relu"),
        keras.layers.MaxPooling2D(),
        keras.layers.Conv2D(32, 3, activation="relu"),
        keras.layers.GlobalAveragePooling2D(),
        keras.layers.Dense(10, activation="softmax"),
    ]
)
model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
steps = Steps()
history = model.fit(x, y, epochs=EPOCHS, batch_size=64, verbose=0, callbacks=[steps], validation_split=0.1)
print(json.dumps({"step": statistics.median(steps.seconds[1:]), "loss": history.history["loss"]}))
