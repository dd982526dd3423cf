import keras
import numpy as np


class PredictionHistory(keras.callbacks.Callback):
    """Keeps how the predictions change while training."""

    def __init__(self, x):
        super().__init__()
        self.x = x
        self.history = []

    def on_train_batch_end(self, batch, logs=None):
        self.history.append(float(keras.ops.mean(self.model(self.x))))


def main():
    rng = np.random.default_rng(3)
    x = rng.normal(size=(400, 6)).astype("float32")
    y = np.sin(x[:, 0])
    cb = PredictionHistory(x)
    model = keras.Sequential([keras.Input((6,)), keras.layers.Dense(16, activation="relu"), keras.layers.Dense(1)])
    model.compile("adam", "mse")
    model.fit(x, y, epochs=2, batch_size=20, callbacks=[cb], verbose=0)
    print(len(cb.history))


if __name__ == "__main__":
    main()
