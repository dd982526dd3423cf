import numpy as np
import pandas as pd
from tensorflow import keras

COLOURS = ["red", "green", "blue"]


def load(n=180):
    rng = np.random.default_rng(5)
    colour = rng.choice(COLOURS + ["Blue"], n, p=[0.33, 0.33, 0.24, 0.1])    # a few typed with a capital
    idx = np.array([COLOURS.index(c.lower()) for c in colour])
    x = np.eye(3)[idx] + rng.normal(0, 0.2, (n, 3))
    return pd.DataFrame(x, columns=["r", "g", "b"]), pd.Series(colour)


def encode(colour):
    return pd.Categorical(colour, categories=COLOURS).codes  # <- FIT203


def main():
    frame, colour = load()
    y = encode(colour)
    model = keras.Sequential([
        keras.layers.Dense(12, activation="relu"),
        keras.layers.Dense(3),
    ])
    model.compile(optimizer="adam",
                  loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
                  metrics=["accuracy"])
    model.fit(frame.to_numpy(), y, epochs=2, batch_size=18, verbose=2)


if __name__ == "__main__":
    main()
