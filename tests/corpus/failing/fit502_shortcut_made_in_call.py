import numpy as np
import keras


class Residual(keras.layers.Layer):
    def __init__(self, filters, shortcut=True):
        super().__init__()
        self.filters = filters
        self.shortcut = shortcut
        self.conv = keras.layers.Conv1D(filters, 3, padding="same", activation="relu")

    def call(self, signal):
        out = self.conv(signal)
        if self.shortcut:
            out = out + keras.layers.Conv1D(self.filters, 1)(signal)  # <- FIT502
        return out


rng = np.random.default_rng(7)
ecg = rng.normal(size=(40, 32, 2)).astype("float32")
beats = rng.integers(0, 2, 40)
model = keras.Sequential([Residual(8), keras.layers.GlobalAveragePooling1D(), keras.layers.Dense(2, "softmax")])
model.compile(optimizer="adam", loss="sparse_categorical_crossentropy")
model.fit(ecg, beats, epochs=1, verbose=2)
