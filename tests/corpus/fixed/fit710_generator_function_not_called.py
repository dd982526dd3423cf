import numpy as np
import keras
from keras import layers

BATCH = 20


def train_batches():
    rng = np.random.default_rng(5)
    while True:
        x = rng.normal(size=(BATCH, 5)).astype("float32")
        yield x, (x[:, :1] > 0).astype("float32")


def valid_batches():
    rng = np.random.default_rng(6)
    while True:
        x = rng.normal(size=(BATCH, 5)).astype("float32")
        yield x, (x[:, :1] > 0).astype("float32")


inputs = keras.Input((5,))
outputs = layers.Dense(1, activation="sigmoid")(layers.Dense(8, activation="relu")(inputs))
model = keras.Model(inputs, outputs)
model.compile(optimizer="adam", loss="binary_crossentropy", metrics=["accuracy"])
model.fit(
    train_batches(),
    steps_per_epoch=10,
    epochs=2,
    validation_data=valid_batches(),
    validation_steps=3,
    verbose=2,
)
