import numpy as np
from keras.models import Sequential
from keras.layers.core import Dense, Dropout, Activation  # <- FIT902
from keras.layers.recurrent import LSTM  # <~ FIT902
m = Sequential()
m.add(LSTM(8, input_shape=(5, 2)))
m.add(Dropout(0.2))
m.add(Dense(1))
m.add(Activation("linear"))
m.compile(loss="mse", optimizer="rmsprop")
m.fit(np.random.rand(30, 5, 2), np.random.rand(30, 1), epochs=1)
