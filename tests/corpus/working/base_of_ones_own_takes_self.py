import numpy as np, keras
from keras import layers, ops


class Base(layers.Layer):
    def __init__(self, owner, **kwargs):
        super().__init__(**kwargs)
        self.kind = type(owner).__name__

    def build(self, input_shape=None):
        self.s = self.add_weight(shape=(), initializer='ones', name='s')


class Child(Base):
    def __init__(self, **kwargs):
        super().__init__(self, **kwargs)

    def build(self, input_shape):
        super().build()
        self.built = True

    def call(self, x):
        return x * self.s


class Old(layers.Layer):
    def __init__(self, units, **kwargs):
        super(Old, self).__init__(**kwargs)
        self.d = layers.Dense(units)

    def call(self, x):
        return self.d(x)[:, -1]


class Net(keras.Model):
    def __init__(self):
        super(Net, self).__init__()
        self.rnn = layers.GRU(8, return_sequences=True)
        self.out = layers.Dense(1)
        self.norm = layers.LayerNormalization()

    def call(self, x):
        h = self.rnn(x)
        last = h[:, -1]
        return self.out(self.norm(last))


m = keras.Sequential([keras.Input((5, 3)), Child(), Old(4), layers.Dense(1)])
m.compile('adam', 'mse')
m.fit(np.random.rand(32, 5, 3), np.random.rand(32, 1), verbose=0)
n = Net()
n.compile('adam', 'mse')
n.fit(np.random.rand(32, 5, 3).astype('float32'), np.random.rand(32, 1), verbose=0)
