import numpy as np
from tensorflow.keras.models import Sequential
from tensorflow.keras.layers import Dense
from tensorflow.keras.callbacks import EarlyStopping, ModelCheckpoint

x = np.random.rand(100, 5)
y = np.random.rand(100)

model = Sequential()
model.add(Dense(10, input_dim=5, activation="relu"))
model.add(Dense(1))
model.compile(loss="mse", optimizer="adam")
es = EarlyStopping(monitor="val_loss")
model.fit(x, y, validation_split=0.2, epochs=3, callbacks=[es], verbose=0)
