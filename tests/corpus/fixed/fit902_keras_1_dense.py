from keras.models import Sequential
from keras.layers import Dense, Activation
import numpy as np

model = Sequential()
model.add(Dense(units=12, kernel_initializer="uniform", activation="relu", input_dim=6))
model.add(Dense(units=1, activation="sigmoid"))
model.compile(optimizer="adam", loss="binary_crossentropy")
model.fit(np.random.rand(32, 6), np.random.randint(0, 2, 32), batch_size=8, epochs=1)
