import keras
import numpy as np
from keras import layers

INIT_LR, EPOCHS, BS = 1e-2, 3, 25

rng = np.random.default_rng(0)
x = rng.normal(size=(200, 6)).astype("float32")
y = x[:, :2].argmax(axis=1)

model = keras.Sequential([keras.Input((6,)), layers.Dense(16, activation="relu"), layers.Dense(2, activation="softmax")])
opt = keras.optimizers.Adam(learning_rate=INIT_LR, decay=INIT_LR / EPOCHS)  # <- FIT902
model.compile(loss="sparse_categorical_crossentropy", optimizer=opt, metrics=["accuracy"])
model.fit(x, y, batch_size=BS, epochs=EPOCHS, verbose=2)
