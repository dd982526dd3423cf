"""A test of a callback with a stand-in for the model, which only has the attribute that the callback sets."""

import keras
import numpy as np


class StopWhenGood(keras.callbacks.Callback):
    def on_epoch_end(self, epoch, logs=None):
        if logs["accuracy"] > 0.9:
            self.model.stop_training = True


class StandIn(keras.Model):
    def __init__(self):
        self.stop_training = False


for accuracy, stops in ((0.5, False), (0.95, True)):
    callback, model = StopWhenGood(), StandIn()
    callback.set_model(model)
    callback.on_epoch_end(0, {"accuracy": accuracy})
    assert model.stop_training is stops

model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(1, activation="sigmoid")])
model.compile("adam", "binary_crossentropy", metrics=["accuracy"])
x = np.random.default_rng(0).random((32, 4))
model.fit(x, (x[:, :1] > 0.5).astype("float32"), epochs=2, callbacks=[StopWhenGood()], verbose=0)
