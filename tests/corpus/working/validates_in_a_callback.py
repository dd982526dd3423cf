"""Validates in a callback of its own, which puts the value where Keras would: the history has it."""
import numpy as np, keras
class Validate(keras.callbacks.Callback):
    def __init__(self, x, y):
        super().__init__()
        self.x, self.y = x, y
    def on_epoch_end(self, epoch, logs=None):
        logs["val_loss"] = float(self.model.evaluate(self.x, self.y, verbose=0))
x, y = np.random.rand(40, 3), np.random.rand(40, 1)
m = keras.Sequential([keras.layers.Dense(1)])
m.compile("adam", "mse")
h = m.fit(x[:30], y[:30], epochs=2, callbacks=[Validate(x[30:], y[30:])], verbose=0)
print(h.history["val_loss"])
