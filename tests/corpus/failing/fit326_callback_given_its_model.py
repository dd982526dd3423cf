"""A callback that is handed the model and keeps it under the name that Keras sets itself."""

import keras
import numpy as np


class Confusion(keras.callbacks.Callback):
    def __init__(self, model, x, y):
        super().__init__()
        self.model = model  # <- FIT326
        self.x, self.y = x, y

    def on_epoch_end(self, epoch, logs=None):
        guesses = self.model.predict(self.x, verbose=0) > 0.5
        print(epoch, int((guesses != self.y).sum()), "wrong")


rng = np.random.default_rng(4)
x = rng.random((60, 5)).astype("float32")
y = (x.sum(axis=1, keepdims=True) > 2.5).astype("float32")
model = keras.Sequential([keras.Input((5,)), keras.layers.Dense(1, activation="sigmoid")])
model.compile(optimizer="adam", loss="binary_crossentropy")
model.fit(x[:40], y[:40], epochs=2, verbose=0, callbacks=[Confusion(model, x[40:], y[40:])])
