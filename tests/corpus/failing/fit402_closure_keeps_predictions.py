import keras
import numpy as np
from keras import ops


def make_loss():
    last = {}

    def loss(y_true, y_pred):
        last["residual"] = y_true - y_pred  # <- FIT402
        return ops.mean(ops.abs(y_true - y_pred), axis=-1)

    return loss, last


def main():
    rng = np.random.default_rng(2)
    x = rng.normal(size=(160, 4)).astype("float32")
    y = (x[:, :1] + 0.2 * rng.standard_normal((160, 1))).astype("float32")
    loss, last = make_loss()
    model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(12, activation="relu"), keras.layers.Dense(1)])
    model.compile(optimizer="adam", loss=loss)
    model.fit(x, y, epochs=2, batch_size=32, verbose=0)
    residual = np.array(last["residual"])  # <~ FIT402
    print("std of residuals", residual.std())


if __name__ == "__main__":
    main()
