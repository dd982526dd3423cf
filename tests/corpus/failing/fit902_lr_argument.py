import numpy as np
from tensorflow.keras.models import Sequential
from tensorflow.keras.layers import Dense, Input
from tensorflow.keras.optimizers import SGD

np.random.seed(0)
X = np.random.randn(200, 5)
y = X @ np.array([1.0, 2.0, 0.0, -1.0, 0.5])

model = Sequential([Input((5,)), Dense(16, activation='tanh'), Dense(1)])
sgd = SGD(lr=0.01, momentum=0.9, nesterov=True)  # <- FIT902
model.compile(loss='mean_squared_error', optimizer=sgd)
model.fit(X, y, epochs=3, batch_size=20, verbose=2)
