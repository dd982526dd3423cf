from tensorflow.keras.layers import Input, Dense, Lambda, Concatenate
from tensorflow.keras.models import Model
import numpy as np

np.random.seed(3)
data = np.random.normal(size=(300, 4)).astype("float32")   # age, dose, weight, marker
response = np.tanh(data[:, 1]) + 0.3 * data[:, 0] + 0.1 * data[:, 3]

inp = Input(shape=(4,))
dose = Lambda(lambda t: t[:, 1:2], name="dose")(inp)
dose_effect = Dense(8, activation="tanh")(dose)
rest = Dense(8, activation="relu")(inp)
merged = Concatenate()([dose_effect, rest])
out = Dense(1)(merged)

model = Model(inp, out)
model.compile("adam", "mse", metrics=["mae"])
model.fit(data, response, epochs=2, batch_size=30, verbose=2)
