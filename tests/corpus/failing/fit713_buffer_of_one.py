import numpy as np
import keras
import tensorflow as tf

SHUFFLE_BUFFER = 1  # <- FIT713


def visits():
    rng = np.random.default_rng(3)
    healthy = rng.normal(0.0, 1.0, (120, 6))
    ill = rng.normal(0.8, 1.0, (120, 6))
    x = np.concatenate([healthy, ill]).astype("float32")
    y = np.repeat([0.0, 1.0], 120).astype("float32")
    return x, y


def pipeline(batch=24):
    x, y = visits()
    return tf.data.Dataset.from_tensor_slices((x, y)).shuffle(SHUFFLE_BUFFER).batch(batch)  # <~ FIT713


inp = keras.Input((6,))
h = keras.layers.Dense(10, activation="relu")(inp)
model = keras.Model(inp, keras.layers.Dense(1, activation="sigmoid")(h))
model.compile("adam", "binary_crossentropy", metrics=["accuracy"])
model.fit(pipeline(), epochs=2, verbose=2)
