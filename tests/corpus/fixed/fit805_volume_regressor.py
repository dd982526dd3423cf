import keras
import numpy as np
from keras import layers


def build(shape, dense_units=2048):
    inputs = keras.Input(shape)
    x = layers.Conv3D(8, 3, padding="same", activation="relu")(inputs)
    x = layers.Conv3D(16, 3, padding="same", activation="relu")(x)
    x = layers.GlobalAveragePooling3D()(x)
    x = layers.Dense(32, activation="relu")(x)
    return keras.Model(inputs, layers.Dense(1)(x))


def main():
    rng = np.random.default_rng(4)
    volumes = rng.random((4, 64, 64, 64, 1), dtype="float32")
    age = volumes.mean(axis=(1, 2, 3, 4)) * 2 - 1
    model = build((64, 64, 64, 1))
    model.summary()
    model.compile(optimizer="adam", loss="mse")
    model.fit(volumes, age, batch_size=1, epochs=1, verbose=2)


if __name__ == "__main__":
    main()
