import numpy as np
import tensorflow as tf
from tensorflow.keras import layers


def build(dim):
    inp = layers.Input((dim,))
    h = layers.Dense(24, activation="relu")(inp)
    digit = layers.Dense(5, activation="softmax", name="digit")(h)
    angle = layers.Dense(1, name="angle")(h)
    return tf.keras.Model(inp, {"digit": digit, "angle": angle})


def main():
    rng = np.random.default_rng(0)
    digit = rng.integers(0, 5, 200)
    angle = rng.uniform(-1, 1, 200).astype("float32")
    x = np.concatenate([np.eye(5)[digit], angle[:, None]], axis=1) + rng.normal(0, 0.1, (200, 6))
    model = build(6)
    model.compile(
        optimizer="adam",
        loss={"digit": "sparse_categorical_crossentropy", "angle": "mse"},
        loss_weights={"digit": 1.0, "angle": 0.5},
        metrics={"digit": ["accuracy"], "angle": ["mae"]},
    )
    model.fit(x.astype("float32"), {"digit": digit, "angle": angle}, epochs=2, batch_size=20, verbose=2)


main()
