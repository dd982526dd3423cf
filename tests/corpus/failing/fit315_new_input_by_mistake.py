from tensorflow.keras.layers import Input, Dense, Concatenate
from tensorflow.keras.models import Model
import numpy as np

rng = np.random.default_rng(0)
numeric = rng.normal(size=(150, 6)).astype("float32")
onehot = np.eye(4, dtype="float32")[rng.integers(0, 4, 150)]
price = numeric[:, 0] + onehot @ np.array([0.0, 1.0, 2.0, 3.0])

num_in = Input(shape=(6,), name="numeric")
cat_in = Input(shape=(4,), name="category")

a = Dense(16, activation="relu")(num_in)
b = Dense(8, activation="relu")(Input(shape=(4,)))  # <- FIT315
merged = Concatenate()([a, b])
out = Dense(1)(merged)

model = Model(inputs=[num_in, cat_in], outputs=out)  # <~ FIT315
model.compile(optimizer="adam", loss="mse")
model.fit([numeric, onehot], price, epochs=2, verbose=2)
