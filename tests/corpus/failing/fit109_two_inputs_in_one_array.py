import numpy as np
from tensorflow.keras import layers, Model, Input


def build_siamese():
    left = Input((8,), name="left")
    right = Input((8,), name="right")
    shared = layers.Dense(4, activation="relu")
    merged = layers.concatenate([shared(left), shared(right)])
    return Model([left, right], layers.Dense(1, activation="sigmoid")(merged))


def main():
    a, b = np.random.rand(40, 8), np.random.rand(40, 8)
    y = np.random.randint(0, 2, 40)
    model = build_siamese()
    model.compile("adam", "binary_crossentropy")
    model.fit(np.array([a, b]), y, epochs=1, verbose=0)  # <- FIT109


if __name__ == "__main__":
    main()
