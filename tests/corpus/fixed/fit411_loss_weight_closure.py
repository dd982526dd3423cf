import keras
import numpy as np
from keras import ops


class AdaptiveLoss:
    """Mixes MSE and MAE; the mix is moved by hand between the rounds."""

    def __init__(self, alpha=0.0):
        self.alpha = keras.Variable(alpha, trainable=False)

    def __call__(self, y_true, y_pred):
        e = y_true - y_pred
        return (1 - self.alpha) * ops.mean(ops.square(e), axis=-1) + self.alpha * ops.mean(ops.abs(e), axis=-1)


def main():
    rng = np.random.default_rng(1)
    x = rng.normal(size=(224, 4)).astype("float32")
    y = x[:, :1] + rng.standard_t(2, (224, 1)).astype("float32") * 0.1

    mix = AdaptiveLoss()
    model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(16, activation="relu"), keras.layers.Dense(1)])
    model.compile(optimizer="adam", loss=mix)
    for alpha in (0.0, 0.5, 1.0):
        mix.alpha.assign(alpha)
        h = model.fit(x, y, epochs=1, batch_size=32, verbose=0)
        print(alpha, h.history["loss"])


if __name__ == "__main__":
    main()
