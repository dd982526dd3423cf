"""Settings read from an ini file are text: the rate, the number of epochs, and a size that is a quotient."""

import configparser

import numpy as np
import tensorflow as tf

SETTINGS = """
[model]
hidden = 24
[training]
epochs = 3
rate = 1e-2
"""


def read_settings():
    parser = configparser.ConfigParser()
    parser.read_string(SETTINGS)
    return parser


def build(width, settings):
    hidden = settings.getint("model", "hidden")
    return tf.keras.Sequential(
        [
            tf.keras.layers.Input(shape=(width,)),
            tf.keras.layers.Dense(hidden, activation="relu"),
            tf.keras.layers.Dense(hidden // 2, activation="relu"),
            tf.keras.layers.Dense(1),
        ]
    )


settings = read_settings()
rng = np.random.default_rng(12)
rain = rng.normal(size=(128, 6)).astype("float32")
flow = rain.sum(axis=1, keepdims=True)
model = build(rain.shape[1], settings)
model.compile(optimizer=tf.keras.optimizers.Adam(0.01), loss="mse")
model.fit(
    rain,
    flow,
    epochs=settings.getint("training", "epochs"),
    batch_size=32,
    verbose=0,
)
