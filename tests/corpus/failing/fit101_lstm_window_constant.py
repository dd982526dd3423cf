import numpy as np
import keras
from keras import layers

LOOKBACK = 30
HORIZON = 1


class WindowMaker:
    def __init__(self, series, lookback):
        self.series = np.asarray(series, dtype="float32")
        self.lookback = lookback

    def windows(self):
        xs, ys = [], []
        for i in range(len(self.series) - self.lookback - HORIZON):
            xs.append(self.series[i:i + self.lookback])
            ys.append(self.series[i + self.lookback])
        return np.array(xs)[..., np.newaxis], np.array(ys)


t = np.arange(260)
signal = np.sin(t / 8.0) + 0.1 * np.random.default_rng(0).normal(size=t.size)

x, y = WindowMaker(signal, lookback=24).windows()  # <- FIT101
cut = int(0.8 * len(x))

model = keras.Sequential([
    keras.Input(shape=(LOOKBACK, 1)),  # <~ FIT101
    layers.Flatten(),
    layers.Dense(32, activation="relu"),
    layers.Dense(1),
])
model.compile(optimizer="adam", loss="mse", metrics=["mae"])
model.fit(x[:cut], y[:cut], validation_data=(x[cut:], y[cut:]), epochs=2, verbose=2)
