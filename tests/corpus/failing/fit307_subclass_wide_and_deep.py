import keras
import numpy as np
from keras import layers, ops


class WideAndDeep(keras.Model):
    def __init__(self, wide_col=0, hidden=16):
        super().__init__()
        self.wide_col = wide_col
        self.wide = layers.Dense(1)
        self.deep = keras.Sequential([layers.Dense(hidden, activation="relu"), layers.Dense(1)])

    def call(self, x):
        price = x[:, self.wide_col]  # <- FIT307
        return self.wide(price) + self.deep(x)


def main():
    rng = np.random.default_rng(12)
    x = rng.normal(size=(256, 6)).astype("float32")
    y = 2 * x[:, :1] + np.abs(x[:, 1:2])
    model = WideAndDeep()
    model.compile(optimizer=keras.optimizers.Adam(1e-2), loss="mse")
    history = model.fit(x, y, epochs=2, batch_size=32, verbose=0)
    print(history.history)


if __name__ == "__main__":
    main()
