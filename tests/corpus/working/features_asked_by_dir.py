"""A helper that works with Keras 2 and 3: it checks what the backend and the optimizer have."""

import keras
import numpy as np

backend = keras.backend

if "clip" in dir(keras.backend):
    clip = keras.backend.clip(np.array([2.0]), 0.0, 1.0)
else:
    clip = keras.ops.clip(np.array([2.0]), 0.0, 1.0)
print(clip)

backend.int_shape = lambda x: tuple(x.shape)

x = np.random.default_rng(0).random((32, 4)).astype("float32")
optimizer = keras.optimizers.SGD(0.01)
model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(1)])
model.compile(optimizer, "mse")
model.fit(x, x.sum(axis=1, keepdims=True), epochs=1, verbose=0)
print(keras.backend.int_shape(model.outputs[0]))
if "get_unscaled_gradients" in dir(optimizer):
    print(optimizer.get_unscaled_gradients([]))
