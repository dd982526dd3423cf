import numpy as np
import keras
from keras import layers


def minibatches(x, y, size):
    order = np.random.default_rng(0).permutation(len(x))
    while True:
        for start in range(0, len(x), size):
            pick = order[start:start + size]
            yield x[pick], y[pick]


def load_speech_features(n=192):
    rng = np.random.default_rng(3)
    word = rng.integers(0, 4, n)
    mfcc = rng.normal(size=(n, 30, 6)).astype("float32")
    mfcc[np.arange(n), :, word] += 1.0
    return mfcc, word


def build_model():
    inp = keras.Input((30, 6))
    h = layers.Conv1D(12, 5, activation="relu")(inp)
    h = layers.GlobalAveragePooling1D()(h)
    model = keras.Model(inp, layers.Dense(4, activation="softmax")(h))
    model.compile(optimizer="adam", loss="sparse_categorical_crossentropy", metrics=["accuracy"])
    return model


mfcc, word = load_speech_features()
model = build_model()
model.fit(minibatches(mfcc, word, 16), steps_per_epoch=len(mfcc) // 16, epochs=5, verbose=2)
