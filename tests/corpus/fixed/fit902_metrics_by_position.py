import numpy as np
from keras.models import Sequential
from keras.layers import Dense
x = np.random.rand(40, 5); y = np.random.randint(0, 2, 40)
model = Sequential()
model.add(Dense(8, activation="relu"))
model.add(Dense(1, activation="sigmoid"))
model.compile("rmsprop", "binary_crossentropy", metrics=["accuracy"])
model.fit(x, y, epochs=1, verbose=0)
