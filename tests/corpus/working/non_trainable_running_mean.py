import keras
import numpy as np
from keras import ops


class RunningCenter(keras.layers.Layer):
    """Subtracts a running mean that is updated while training."""

    def __init__(self, momentum=0.9, **kwargs):
        super().__init__(**kwargs)
        self.momentum = momentum

    def build(self, input_shape):
        self.center = self.add_weight(shape=(input_shape[-1],), initializer="zeros", trainable=False, name="center")

    def call(self, x, training=None):
        if training:
            batch = ops.mean(x, axis=0)
            self.center.assign(self.momentum * self.center + (1 - self.momentum) * batch)
        return x - self.center


def main():
    rng = np.random.default_rng(0)
    x = rng.normal(3.0, 1.0, size=(240, 5)).astype("float32")
    y = x[:, 0] - x[:, 1]
    model = keras.Sequential([keras.Input((5,)), RunningCenter(), keras.layers.Dense(16, activation="relu"), keras.layers.Dense(1)])
    model.compile("adam", "mse")
    model.fit(x, y, epochs=3, batch_size=24, verbose=0)
    print(model.layers[0].center.numpy())


if __name__ == "__main__":
    main()
