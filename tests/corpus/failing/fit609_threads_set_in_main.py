import keras
import numpy as np
import tensorflow as tf
from keras import layers


inputs = keras.Input((10,))
outputs = layers.Dense(1)(layers.Dense(20, activation="relu")(inputs))
model = keras.Model(inputs, outputs)
model.compile(optimizer="adam", loss="mse")


def limit_threads(n):
    tf.config.threading.set_intra_op_parallelism_threads(n)  # <- FIT609
    tf.config.threading.set_inter_op_parallelism_threads(1)  # <~ FIT609


def main():
    limit_threads(2)
    rng = np.random.default_rng(0)
    x = rng.normal(size=(160, 10)).astype("float32")
    model.fit(x, x[:, 0] * x[:, 1], epochs=1, verbose=2)


if __name__ == "__main__":
    main()
