import numpy as np
import tensorflow as tf
from tensorflow.keras.layers import LSTM, Dense, Input, TimeDistributed
from tensorflow.keras.models import Sequential

T = 20
rng = np.random.default_rng(5)
drive = rng.normal(size=(120, T, 2)).astype("float32")
response = np.cumsum(drive[:, :, :1], axis=1) / T      # a target at every step

model = Sequential()
model.add(Input((T, 2)))
model.add(LSTM(16, return_sequences=True))
model.add(TimeDistributed(Dense(1)))
model.compile(optimizer=tf.keras.optimizers.Adam(0.01), loss="mse")
model.fit(drive, response, epochs=2, batch_size=12, verbose=2)
