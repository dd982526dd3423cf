"""Callbacks that read names which may not be there, and say what to do then."""
import numpy as np
from tensorflow import keras


class Stop(keras.callbacks.Callback):
    def on_epoch_end(self, epoch, logs=None):
        logs = logs or {}
        if logs.get("acc") is not None and logs.get("acc") > 0.9:
            self.model.stop_training = True
        if logs.get("val_loss", 1.0) < 0.1:
            self.model.stop_training = True


x, y = np.random.rand(40, 3), np.random.rand(40, 1)
model = keras.Sequential([keras.layers.Dense(1)])
model.compile("sgd", "mse")
model.fit(x, y, epochs=2, verbose=0, callbacks=[Stop()])
