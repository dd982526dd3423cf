import numpy as np
import keras

RAW = "\n".join(
    f"{a:.3f};{b:.3f};{c:.3f};{1 if a + b > c else 0}"
    for a, b, c in np.random.default_rng(6).normal(size=(220, 3))
)


def parse(text):
    feats, labels = [], []
    for line in text.splitlines():
        parts = line.strip().split(";")
        feats.append(parts[:-1])  # <- FIT106
        labels.append(int(parts[-1]))
    return np.array(feats), np.array(labels)  # <~ FIT106


def make_model(n_in):
    inp = keras.layers.Input((n_in,))
    out = keras.layers.Dense(1, activation="sigmoid")(keras.layers.Dense(12, activation="relu")(inp))
    model = keras.Model(inp, out)
    model.compile("adam", "binary_crossentropy", metrics=["binary_accuracy"])
    return model


if __name__ == "__main__":
    X, y = parse(RAW)
    print(X.shape, y.shape)
    model = make_model(X.shape[1])
    model.fit(X, y, epochs=2, batch_size=22, verbose=2)
