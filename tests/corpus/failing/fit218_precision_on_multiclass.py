import numpy as np
import tensorflow as tf
from tensorflow.keras import layers, metrics

LABELS = ["benign", "worm", "trojan", "spyware"]


def packets(n=240):
    rng = np.random.default_rng(6)
    y = rng.integers(0, len(LABELS), n)
    x = rng.normal(size=(n, 9))
    x[np.arange(n), y] += 3.0
    return x.astype("float32"), y


def compile_model(model):
    model.compile(
        optimizer="adam",
        loss="sparse_categorical_crossentropy",
        metrics=["accuracy", metrics.Precision(name="precision"), metrics.Recall(name="recall")],  # <- FIT218
    )
    return model


def main():
    x, y = packets()
    inp = layers.Input((9,))
    out = layers.Dense(len(LABELS), activation="softmax")(layers.Dense(20, activation="relu")(inp))
    model = compile_model(tf.keras.Model(inp, out))
    model.fit(x, y, epochs=2, batch_size=24, verbose=2)


main()
