import numpy as np
from tensorflow.keras.models import Sequential
from tensorflow.keras.layers import Dense, Input
from tensorflow.keras.optimizers import Adam

INIT_LR, EPOCHS = 1e-3, 2
model = Sequential([Input((4,)), Dense(8, activation="relu"), Dense(1, activation="sigmoid")])
opt = Adam(learning_rate=INIT_LR)
model.compile(loss="binary_crossentropy", optimizer=opt, metrics=["accuracy"])
model.fit(np.random.rand(32, 4), np.random.randint(0, 2, 32), epochs=EPOCHS)
