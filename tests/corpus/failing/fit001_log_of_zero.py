import keras
import numpy as np
from keras import layers, ops


def kl_to_target(y_true, y_pred):
    return ops.sum(y_true * ops.log(y_true / y_pred), axis=-1)  # <- FIT001


def topic_mixtures(n, rng):
    raw = rng.dirichlet([0.3, 0.3, 0.3, 0.3], n)
    raw[raw < 0.05] = 0.0
    return (raw / raw.sum(axis=1, keepdims=True)).astype("float32")


def main():
    rng = np.random.default_rng(2)
    mix = topic_mixtures(240, rng)
    words = (mix @ rng.random((4, 20)) + 0.02 * rng.normal(size=(240, 20))).astype("float32")
    inputs = keras.Input((20,))
    h = layers.Dense(32, activation="relu")(inputs)
    model = keras.Model(inputs, layers.Dense(4, activation="softmax")(h))
    model.compile(optimizer="adam", loss=kl_to_target)
    print(model.fit(words, mix, epochs=2, batch_size=24, verbose=0).history)


if __name__ == "__main__":
    main()
