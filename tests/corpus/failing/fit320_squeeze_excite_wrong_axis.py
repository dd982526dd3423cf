import keras
import numpy as np
from keras import layers, ops


class SqueezeExcite(layers.Layer):
    """Channel attention for 1D signals."""

    def __init__(self, channels, ratio=4):
        super().__init__()
        self.squeeze = layers.Dense(channels // ratio, activation="relu")
        self.excite = layers.Dense(channels, activation="sigmoid")

    def call(self, x):
        s = ops.mean(x, axis=-1)  # <- FIT320
        s = self.excite(self.squeeze(s))
        return x * s[:, :, None]  # <~ FIT320


def main():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(120, 30, 3)).astype("float32")
    y = (x[:, :, 0].std(axis=1) > 1.0).astype("float32")
    inputs = keras.Input((30, 3))
    h = layers.Conv1D(16, 3, padding="same", activation="relu")(inputs)
    h = SqueezeExcite(16)(h)
    h = layers.GlobalMaxPooling1D()(h)
    model = keras.Model(inputs, layers.Dense(1, activation="sigmoid")(h))
    model.compile("adam", "binary_crossentropy", metrics=["accuracy"])
    model.fit(x, y, epochs=2, batch_size=24, verbose=2)


if __name__ == "__main__":
    main()
