import numpy as np
from tensorflow import keras


class StopWhenGood(keras.callbacks.Callback):
    """Stops training when the loss is low enough."""

    def __init__(self, goal):
        super().__init__()
        self.goal = goal

    def on_epoch_end(self, epoch):  # <- FIT314
        loss = self.model.history.history.get("loss", [1.0])[-1]
        self.model.stop_training = loss < self.goal


rng = np.random.default_rng(0)
x = rng.normal(size=(128, 4)).astype("float32")
y = x.sum(axis=1, keepdims=True)

model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(8, activation="relu"), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
model.fit(x, y, epochs=3, verbose=0, callbacks=[StopWhenGood(0.01)])
