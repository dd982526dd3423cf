from keras.models import Sequential
from keras.layers import Dense, Activation
import numpy as np
from keras import optimizers

# fix random seed for reproducibility
np.random.seed(7)
import keras

keras.utils.set_random_seed(7)
# datapoints
X = np.arange(0.0, 5.0, 0.1, dtype="float32").reshape(-1, 1)
y = 5 * np.power(X, 2) + np.power(np.random.randn(50).reshape(-1, 1), 3)

# model
model = Sequential()
model.add(Dense(50, input_dim=1))
model.add(Activation("relu"))
model.add(Dense(30, kernel_initializer="uniform"))
model.add(Activation("relu"))
model.add(Dense(1))
model.add(Activation("linear"))

# training
sgd = optimizers.SGD(learning_rate=0.0001)
model.compile(loss="mse", optimizer=sgd)
model.fit(X, y, epochs=60, verbose=0)

# predictions
predictions = model.predict(X, verbose=0)
print(predictions[:3])
