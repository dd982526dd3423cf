import numpy as np
import keras
from keras import ops, layers

class PickClass(layers.Layer):
    def call(self, scores):
        return ops.cast(ops.argmax(scores, axis=-1, keepdims=True), 'float32')  # <- FIT505

inp = keras.Input((6,))
h = layers.Dense(12, activation='relu')(inp)
h = layers.Dense(3)(h)
out = PickClass()(h)
model = keras.Model(inp, out)
model.compile(optimizer='adam', loss='mse')
model.fit(np.random.rand(50, 6), np.random.randint(0, 3, (50, 1)).astype('float32'), epochs=1, verbose=0)
