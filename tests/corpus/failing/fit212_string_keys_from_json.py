import json

import numpy as np
import tensorflow as tf

CONFIG = json.loads('{"epochs": 2, "class_weight": {"0": 1.0, "1": 12.5}}')


def rare_events(n=400):
    rng = np.random.default_rng(9)
    y = (rng.random(n) < 0.08).astype("int32")
    x = rng.normal(size=(n, 6)) + 0.8 * y[:, None]
    return x.astype("float32"), y


def build():
    return tf.keras.Sequential([
        tf.keras.layers.Input((6,)),
        tf.keras.layers.Dense(12, activation="relu"),
        tf.keras.layers.Dense(1, activation="sigmoid"),
    ])


x, y = rare_events()
model = build()
model.compile("adam", "binary_crossentropy", metrics=[tf.keras.metrics.Recall(name="recall")])
model.fit(x, y, epochs=CONFIG["epochs"], class_weight=CONFIG["class_weight"], verbose=2)  # <- FIT212
