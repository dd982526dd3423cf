import itertools

import numpy as np
import tensorflow as tf
from tensorflow.keras import backend as K
from tensorflow.keras import layers

rng = np.random.default_rng(2)
x = rng.normal(size=(160, 4)).astype("float32")
y = (x[:, 0] * x[:, 1] > 0).astype("float32")


def build(units, lr):
    model = tf.keras.Sequential([layers.Input((4,)), layers.Dense(units, activation="relu"), layers.Dense(1, activation="sigmoid")])
    model.compile(tf.keras.optimizers.Adam(lr), "binary_crossentropy", metrics=["accuracy"])
    return model


results = {}
for units, lr in itertools.product((4, 8), (1e-2, 1e-3)):
    K.clear_session()
    tf.compat.v1.reset_default_graph()
    hist = build(units, lr).fit(x, y, validation_split=0.25, epochs=1, verbose=0)
    results[units, lr] = hist.history["val_accuracy"][-1]
print(max(results, key=results.get))
