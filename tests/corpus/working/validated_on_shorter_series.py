import numpy as np
from tensorflow.keras.models import Sequential
from tensorflow.keras.layers import LSTM, Dense

data = np.random.rand(12, 80, 5)
train_x = data[:, :60].reshape((12, 60, 5))
test_x = data[:, 60:].reshape((12, 20, 5))
train_y = np.random.rand(12, 60, 5)
test_y = np.random.rand(12, 20, 5)

model = Sequential()
model.add(LSTM(16, input_shape=(train_x.shape[1], train_x.shape[2]), return_sequences=True))
model.add(Dense(5))
model.compile(loss="mean_squared_error", optimizer="adam")
history = model.fit(train_x, train_y, epochs=2, validation_data=(test_x, test_y), verbose=2, shuffle=False)
