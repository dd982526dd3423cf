import numpy as np
import pandas as pd
import tensorflow as tf
from tensorflow.keras import layers

ACTIVITIES = ["walk", "run", "sit", "stand", "climb", "lie"]


def accelerometer(n=180, steps=20):
    rng = np.random.default_rng(1)
    act = rng.choice(ACTIVITIES, n)
    code = np.array([ACTIVITIES.index(a) for a in act])
    t = np.arange(steps)
    x = np.sin(t[None, :, None] * (0.2 + 0.2 * code[:, None, None])) + rng.normal(0, 0.1, (n, steps, 3))
    return x.astype("float32"), pd.Series(act)


def build():
    inp = layers.Input((20, 3))
    h = layers.Conv1D(12, 5, activation="relu")(inp)
    h = layers.GlobalAveragePooling1D()(h)
    out = layers.Dense(6, activation="softmax")(h)
    return tf.keras.Model(inp, out)


x, act = accelerometer()
y = pd.get_dummies(act, dtype="float32").to_numpy()
model = build()
model.compile(optimizer="adam", loss="categorical_crossentropy", metrics=["accuracy"])
model.fit(x, y, epochs=2, batch_size=18, verbose=2)
