import numpy as np
import keras
from keras import layers, ops


class Proj(layers.Layer):
    def __init__(self, output_dim, context_size, **kwargs):
        self.output_dim = output_dim
        self.context_size = context_size
        super(Proj, self).__init__(**kwargs)

    def build(self, input_shape):
        self.W = self.add_weight(shape=(input_shape[-1], self.context_size * self.output_dim),
                                 initializer='uniform', name='W')
        super(Proj, self).build(input_shape)

    def call(self, x):
        return ops.reshape(ops.matmul(x, self.W), (-1, self.context_size, self.output_dim))


m = keras.Sequential([keras.Input((6,)), Proj(4, 3), layers.Flatten(), layers.Dense(1)])
m.compile('sgd', 'mse')
m.fit(np.random.rand(32, 6), np.random.rand(32), epochs=1)
