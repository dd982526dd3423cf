import keras
import numpy as np
from keras import layers

rng = np.random.default_rng(0)
votes = rng.normal(size=(180, 5, 3)).astype("float32")
winner = votes.mean(axis=1).argmax(axis=1)
winner[:20] = (winner[:20] + 1) % 3

# five experts, each with three scores
model = keras.Sequential(
    [
        keras.Input((5, 3)),
        layers.GlobalAveragePooling1D(),
        layers.Dropout(0.1),
        layers.Dense(3, activation="softmax"),
    ]
)
model.compile(optimizer="adam", loss="sparse_categorical_crossentropy", metrics=["accuracy"])
model.fit(votes, winner, epochs=2, batch_size=20, verbose=2)
