import keras
import numpy as np
from keras import layers


def encoder_block(x, filters, rate):
    x = layers.Conv1D(filters, 3, padding="same", activation="relu")(x)
    x = layers.MaxPooling1D(2)(x)
    x = layers.SpatialDropout1D(rate)  # <- FIT309
    return x


def build(length, channels):
    inputs = keras.Input((length, channels))
    h = inputs
    for filters in (8, 16):
        h = encoder_block(h, filters, 0.1)
    h = layers.GlobalAveragePooling1D()(h)
    return keras.Model(inputs, layers.Dense(2, activation="softmax")(h))


if __name__ == "__main__":
    rng = np.random.default_rng(14)
    ecg = rng.normal(size=(120, 64, 1)).astype("float32")
    abnormal = rng.integers(0, 2, 120)
    ecg[abnormal == 1, 20:30] += 2.0
    model = build(64, 1)
    model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
    model.fit(ecg, abnormal, epochs=2, batch_size=24, verbose=2)
