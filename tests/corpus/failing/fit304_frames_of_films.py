import numpy as np
from tensorflow.keras.models import Sequential
from tensorflow.keras.layers import Conv2D, MaxPooling2D, LSTM, Dense, Flatten, TimeDistributed

frames = np.random.rand(12, 5, 32, 32, 3)
labels = np.random.randint(0, 2, (12, 1))

model = Sequential()
model.add(Conv2D(8, (3, 3), activation='relu', input_shape=(5, 32, 32, 3)))  # <- FIT304
model.add(MaxPooling2D((2, 2)))
model.add(TimeDistributed(Flatten()))
model.add(LSTM(16))
model.add(Dense(1, activation='sigmoid'))
model.compile(loss='binary_crossentropy', optimizer='adam')
model.fit(frames, labels, epochs=1, batch_size=4)
