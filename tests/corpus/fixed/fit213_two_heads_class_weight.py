import numpy as np
import tensorflow as tf
from tensorflow.keras import layers


def faces(n=160):
    rng = np.random.default_rng(0)
    smile = (rng.random(n) < 0.2).astype("float32")
    glasses = (rng.random(n) < 0.5).astype("float32")
    x = rng.random((n, 16, 16, 1)).astype("float32") * 0.4
    x[smile == 1, 11:13] += 0.5
    x[glasses == 1, 4:6] += 0.5
    return x, smile, glasses


inp = layers.Input((16, 16, 1))
h = layers.Conv2D(8, 3, activation="relu")(inp)
h = layers.Flatten()(h)
smile_out = layers.Dense(1, activation="sigmoid", name="smile")(h)
glasses_out = layers.Dense(1, activation="sigmoid", name="glasses")(h)
model = tf.keras.Model(inp, [smile_out, glasses_out])
model.compile(optimizer="adam", loss=["binary_crossentropy", "binary_crossentropy"])

x, smile, glasses = faces()
smile_weight = np.where(smile == 1, 2.5, 0.6)
model.fit(x, [smile, glasses], epochs=2, batch_size=16, verbose=2,
          sample_weight=[smile_weight, np.ones_like(glasses)])
