"""The channel order is a global setting, which a function changes."""

import numpy as np
from keras import backend
from keras.models import Sequential
from keras.layers import Conv2D, MaxPooling2D, Flatten, Dense


def setup():
    backend.set_image_data_format("channels_first")


setup()
x = np.random.rand(16, 1, 28, 28)
m = Sequential()
m.add(Conv2D(30, (5, 5), input_shape=(1, 28, 28), activation="relu"))
m.add(MaxPooling2D(pool_size=(2, 2)))
m.add(Conv2D(15, (3, 3), activation="relu"))
m.add(MaxPooling2D(pool_size=(2, 2)))
m.add(Flatten())
m.add(Dense(10, activation="softmax"))
m.compile("adam", "sparse_categorical_crossentropy")
m.fit(x, np.random.randint(0, 10, 16), verbose=0)
