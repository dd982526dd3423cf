import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

SEQ_LEN = 20


def make_sequences(n, rng):
    freq = rng.uniform(0.2, 1.5, (n, 1))
    phase = rng.uniform(0, 6, (n, 1))
    t = np.arange(SEQ_LEN + 1)
    wave = np.sin(freq * t + phase)
    return wave[:, :-1, None].astype("float32"), wave[:, -1].astype("float32")


def build_forecaster(units):
    model = tf.keras.Sequential(name="forecaster")
    model.add(layers.Input((SEQ_LEN, 1)))
    model.add(layers.LSTM(units, return_sequences=True))
    model.add(layers.LSTM(units // 2))
    model.add(layers.Dense(1))
    model.compile("adam", "mse")
    return model


if __name__ == "__main__":
    rng = np.random.default_rng(0)
    x, y = make_sequences(160, rng)
    x_val, y_val = make_sequences(40, rng)
    forecaster = build_forecaster(16)
    forecaster.fit(x, y, validation_data=(x_val, y_val), epochs=2, verbose=2)
