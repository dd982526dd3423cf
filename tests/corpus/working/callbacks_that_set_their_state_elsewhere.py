"""Callbacks whose attributes are set in a parent class, from outside, by name, or only after a check."""

import keras
import numpy as np
from keras import layers


class Timed(keras.callbacks.Callback):
    unit = "s"

    def on_train_begin(self, logs=None):
        self.started = 0.0


class Noted(Timed):
    def on_epoch_end(self, epoch, logs=None):
        self.notes.append((self.started, self.unit, logs["loss"], self.params["epochs"], self.model.name))
        if not hasattr(self, "worst"):
            self.worst = logs["loss"]
        try:
            self.rounds += 1
        except AttributeError:
            self.rounds = 1
        self.shown = self.percent
        self.show()

    @property
    def percent(self):
        return 100 * self.worst

    def show(self):
        print(f"{self.shown:.0f}%", self.rounds)


noted = Noted()
noted.notes = []

rng = np.random.default_rng(0)
x = rng.normal(size=(64, 3)).astype("float32")
model = keras.Sequential([keras.Input((3,)), layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
model.fit(x, x.sum(axis=1, keepdims=True), epochs=2, callbacks=[noted], verbose=0)
