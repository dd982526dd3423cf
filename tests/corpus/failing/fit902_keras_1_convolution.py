from keras.models import Sequential
from keras.layers import Convolution2D, MaxPooling2D, Flatten, Dense
import numpy as np

model = Sequential()
model.add(Convolution2D(8, 3, 3, input_shape=(16, 16, 3), activation="relu", border_mode="same"))  # <- FIT902
model.add(MaxPooling2D(pool_size=(2, 2)))
model.add(Flatten())
model.add(Dense(1, activation="sigmoid"))
model.compile("adam", "binary_crossentropy")
model.fit(np.random.rand(8, 16, 16, 3), np.random.randint(0, 2, 8), epochs=1)
