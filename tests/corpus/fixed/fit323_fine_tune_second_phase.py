import keras
import numpy as np
from keras import layers


def make_data(n=240):
    rng = np.random.default_rng(3)
    y = rng.integers(0, 3, n)
    x = rng.random((n, 14, 14, 1)) * 0.4
    for i, k in enumerate(y):
        x[i, 4 * k:4 * k + 5] += 0.5
    return x.astype("float32"), y


def build():
    backbone = keras.Sequential(
        [keras.Input((14, 14, 1)), layers.Conv2D(8, 3, activation="relu"), layers.Conv2D(8, 3, activation="relu"), layers.Flatten()],
        name="backbone",
    )
    backbone.trainable = False
    inputs = keras.Input((14, 14, 1))
    outputs = layers.Dense(3, activation="softmax")(backbone(inputs, training=False))
    return keras.Model(inputs, outputs), backbone


def main():
    x, y = make_data()
    model, backbone = build()
    model.compile(optimizer=keras.optimizers.Adam(1e-3), loss="sparse_categorical_crossentropy", metrics=["accuracy"])
    print("phase 1: head only")
    model.fit(x, y, epochs=1, batch_size=24, verbose=0)

    print("phase 2: fine-tune everything")
    backbone.trainable = True
    kernel = backbone.layers[0].kernel.numpy().copy()
    model.compile(optimizer=keras.optimizers.Adam(1e-5), loss="sparse_categorical_crossentropy", metrics=["accuracy"])
    model.fit(x, y, epochs=1, batch_size=24, verbose=0)
    print(model.evaluate(x, y, verbose=0), "moved", abs(backbone.layers[0].kernel.numpy() - kernel).max())


if __name__ == "__main__":
    main()
