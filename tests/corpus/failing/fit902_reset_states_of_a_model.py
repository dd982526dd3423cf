import numpy as np
from tensorflow.keras.models import Sequential
from tensorflow.keras.layers import LSTM, Dense, Input

n_batch, n_epoch = 1, 2
X = np.random.rand(6, 1, 1)
y = np.random.rand(6, 1)
model = Sequential()
model.add(Input(batch_shape=(n_batch, 1, 1)))
model.add(LSTM(5, stateful=True))
model.add(Dense(1))
model.compile(loss="mean_squared_error", optimizer="adam")
for i in range(n_epoch):
    model.fit(X, y, epochs=1, batch_size=n_batch, verbose=0, shuffle=False)
    model.reset_states()  # <- FIT902
