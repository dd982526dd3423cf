import keras
import numpy as np


class BestLoss(keras.callbacks.Callback):
    def on_epoch_end(self, epoch, logs=None):
        if logs["loss"] < self.best:  # <- FIT329
            self.best_epoch = epoch


rng = np.random.default_rng(0)
x = rng.normal(size=(64, 4)).astype("float32")
y = x.sum(axis=1, keepdims=True)

model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
model.fit(x, y, epochs=2, callbacks=[BestLoss()], verbose=0)
