import numpy as np
from keras.models import Sequential
from keras.layers import Conv2D, MaxPooling2D, Flatten, LSTM, Dense, TimeDistributed, Input

frames, rows, columns, channels = 5, 16, 16, 1
x_train = np.random.rand(40, frames, rows, columns, channels)
y_train = np.random.randint(0, 3, 40)

model = Sequential()
model.add(Input(shape=(frames, rows, columns, channels)))
model.add(TimeDistributed(Conv2D(4, (3, 3), activation="relu")))
model.add(TimeDistributed(MaxPooling2D(pool_size=(2, 2))))
model.add(Flatten())  # <- FIT304
model.add(LSTM(8))  # <~ FIT304
model.add(Dense(3, activation="softmax"))
model.compile(loss="sparse_categorical_crossentropy", optimizer="rmsprop")
model.fit(x_train, y_train, epochs=1, verbose=0)
