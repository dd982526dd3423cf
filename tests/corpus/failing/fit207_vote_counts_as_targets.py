"""Galaxy morphology from volunteers' votes."""
import numpy as np
from tensorflow import keras
from tensorflow.keras import layers

KINDS = 3


def galaxies(n=200):
    rng = np.random.default_rng(23)
    p = rng.dirichlet(np.ones(KINDS), n)
    votes = np.stack([rng.multinomial(40, row) for row in p])
    stats = p @ rng.normal(size=(KINDS, 8)) + rng.normal(0, 0.05, (n, 8))
    return stats.astype("float32"), votes.astype("float32")


def get_splits():
    stats, votes = galaxies()
    targets = votes  # <- FIT207
    return (stats[:160], targets[:160]), (stats[160:], targets[160:])


def main():
    train, valid = get_splits()
    inp = keras.Input((8,))
    h = layers.Dense(20, activation="relu")(inp)
    model = keras.Model(inp, layers.Dense(KINDS, activation="softmax")(h))
    model.compile(optimizer="adam", loss="categorical_crossentropy")
    model.fit(*train, validation_data=valid, epochs=2, batch_size=20, verbose=2)


if __name__ == "__main__":
    main()
