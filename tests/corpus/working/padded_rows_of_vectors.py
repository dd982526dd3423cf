"""An array of objects, one matrix per row: padding gives three axes, so the labels are one-hot per time step."""

import numpy as np
from tensorflow import keras

TAGS, LENGTH = 4, 6
rng = np.random.default_rng(3)


def build(count, categorical=False):
    data = np.empty((count,), dtype=list)
    for i in range(count):
        ids = rng.integers(0, TAGS, size=rng.integers(2, LENGTH))
        if categorical:
            data[i] = keras.utils.to_categorical(ids, num_classes=TAGS)
        else:
            data[i] = list(ids)
    return keras.utils.pad_sequences(data, maxlen=LENGTH)


x = build(40)
y = build(40, categorical=True)

model = keras.Sequential(
    [
        keras.Input((LENGTH,)),
        keras.layers.Embedding(TAGS, 8),
        keras.layers.LSTM(8, return_sequences=True),
        keras.layers.Dense(TAGS, activation="softmax"),
    ]
)
model.compile(optimizer="adam", loss="categorical_crossentropy", metrics=["accuracy"])
model.fit(x, y, epochs=1, verbose=0)
