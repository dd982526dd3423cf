import numpy as np
from tensorflow.keras.layers import Dense, Input
from tensorflow.keras.models import Sequential
from tensorflow.keras.optimizers import Adam

rng = np.random.default_rng(0)
X = rng.normal(size=(250, 6)).astype("float32")
y = (X[:, 0] > 0).astype("float32")

model = Sequential([Input((6,)), Dense(16, activation="relu"), Dense(1, activation="sigmoid")])
model.compile(optimizer=Adam(1e-8), loss="binary_crossentropy", metrics=["accuracy"])  # <- FIT002
h = model.fit(X, y, epochs=5, batch_size=25, verbose=2)
print(h.history["loss"])
