import keras
import numpy as np
from keras import layers, ops


class FlexibleDense(layers.Layer):
    """Python ifs on configuration, on the training flag and on static shapes."""

    def __init__(self, units, use_bias=True, residual=False, rate=0.0, **kwargs):
        super().__init__(**kwargs)
        self.units, self.use_bias, self.residual = units, use_bias, residual
        self.drop = layers.Dropout(rate) if rate else None

    def build(self, input_shape):
        assert input_shape[-1] is not None, "the last axis must be known"
        self.w = self.add_weight(shape=(input_shape[-1], self.units), initializer="glorot_uniform", name="w")
        if self.use_bias:
            self.b = self.add_weight(shape=(self.units,), initializer="zeros", name="b")

    def call(self, x, training=False):
        assert len(x.shape) == 2
        y = ops.matmul(x, self.w)
        if self.use_bias:
            y = y + self.b
        if training and self.drop is not None:
            y = self.drop(y, training=training)
        if self.residual and x.shape[-1] == self.units:
            y = y + x
        return ops.relu(y)


x = np.random.default_rng(0).normal(size=(140, 8)).astype("float32")
model = keras.Sequential([keras.Input((8,)), FlexibleDense(8, residual=True, rate=0.2), FlexibleDense(4, use_bias=False), layers.Dense(1)])
model.compile("adam", "mse")
model.fit(x, np.abs(x).sum(axis=1), epochs=2, batch_size=20, verbose=2)
