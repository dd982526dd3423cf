import numpy as np
import tensorflow as tf
from tensorflow.keras.layers import LSTM, Dense
from tensorflow.keras.models import Sequential
from tensorflow.keras.layers import Input

batch_size, look_back = 8, 6
series = np.sin(np.linspace(0, 30, 166)).astype("float32")
X = np.stack([series[i:i + look_back] for i in range(160)])[..., None]
y = series[look_back:look_back + 160]

model = Sequential()
model.add(Input(batch_shape=(batch_size, look_back, 1)))
model.add(LSTM(4, stateful=True))
model.add(Dense(1))
model.compile(loss="mean_squared_error", optimizer="adam")
model.fit(X, y, epochs=2, batch_size=batch_size, shuffle=False, verbose=2)
