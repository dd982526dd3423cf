import keras
import numpy as np
from keras import ops


class Bilinear(keras.layers.Layer):
    def __init__(self, units, **kwargs):
        super().__init__(**kwargs)
        self.units = units

    def call(self, inputs):
        left, right = inputs
        kernel = self.add_weight(shape=(left.shape[-1], self.units, right.shape[-1]), name="kernel")  # <- FIT502
        return ops.einsum("bi,iuj,bj->bu", left, kernel, right)


def main():
    rng = np.random.default_rng(0)
    a = rng.normal(size=(180, 4)).astype("float32")
    b = rng.normal(size=(180, 4)).astype("float32")
    y = (a * b).sum(axis=1)
    left, right = keras.Input((4,)), keras.Input((4,))
    h = Bilinear(6)([left, right])
    model = keras.Model([left, right], keras.layers.Dense(1)(h))
    model.compile("adam", "mse")
    model.fit([a, b], y, epochs=2, batch_size=30, verbose=2)


if __name__ == "__main__":
    main()
