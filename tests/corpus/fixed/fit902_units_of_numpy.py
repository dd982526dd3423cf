import numpy as np
from tensorflow.keras.models import Sequential
from tensorflow.keras.layers import Dense, Reshape, Input

img_shape = (8, 8, 1)


def build_generator():
    model = Sequential()
    model.add(Input((10,)))
    model.add(Dense(16, activation="relu"))
    model.add(Dense(int(np.prod(img_shape)), activation="tanh"))
    model.add(Reshape(img_shape))
    return model


g = build_generator()
g.compile("adam", "mse")
g.fit(np.random.rand(20, 10), np.random.rand(20, 8, 8, 1), epochs=1, verbose=0)
