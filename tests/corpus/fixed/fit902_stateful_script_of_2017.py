import numpy as np
from keras.models import Sequential
from keras.layers import Dense, Dropout, Input, LSTM
from keras.optimizers import SGD
from keras import backend as K

np.random.seed(7)
x = np.random.rand(48, 6, 2); y = np.random.rand(48)
model = Sequential()
model.add(Input(batch_shape=(8, 6, 2)))
model.add(LSTM(8, stateful=True))
model.add(Dropout(0.2))
model.add(Dense(1))
sgd = SGD(learning_rate=0.01, momentum=0.9, nesterov=True)
model.compile(loss='mse', optimizer=sgd)
for i in range(2):
    model.fit(x, y, epochs=1, batch_size=8, shuffle=False, verbose=0)
    model.layers[0].reset_state()
