"""Two stacked recurrent layers over hourly wind."""

import keras
import numpy as np


class Forecast(keras.Model):
    def __init__(self):
        super().__init__()
        self.hours = keras.layers.LSTM(8, return_sequences=True)
        self.day = keras.layers.LSTM(4)
        self.head = keras.layers.Dense(1)

    def call(self, inputs):
        hours = self.hours(inputs)
        day = self.day(hours)
        return self.head(day)


rng = np.random.default_rng(30)
wind = rng.normal(size=(64, 24, 2)).astype("float32")
power = wind.mean(axis=(1, 2)).reshape(-1, 1)

model = Forecast()
model.compile(optimizer="adam", loss="mse")
model.fit(wind, power, epochs=2, verbose=0)
