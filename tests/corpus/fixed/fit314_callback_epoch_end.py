import keras
import numpy as np
from keras.callbacks import Callback


class PrintLoss(Callback):
    def __init__(self, every=1):
        super().__init__()
        self.every = every

    def on_epoch_end(self, epoch, logs=None):
        if epoch % self.every == 0:
            print("epoch", epoch, "done")


def main():
    x = np.linspace(-1, 1, 128).reshape(-1, 1).astype("float32")
    y = 0.5 * x ** 3 - x
    model = keras.Sequential([keras.Input((1,)), keras.layers.Dense(20, activation="tanh"), keras.layers.Dense(1)])
    model.compile(optimizer=keras.optimizers.Adam(1e-2), loss="mse")
    model.fit(x, y, epochs=2, batch_size=16, verbose=0, callbacks=[PrintLoss(every=1)])


if __name__ == "__main__":
    main()
