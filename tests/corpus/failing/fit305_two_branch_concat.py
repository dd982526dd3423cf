from tensorflow.keras.layers import (Input, Conv1D, Dense, Concatenate, GlobalMaxPooling1D)
from tensorflow.keras.models import Model
import numpy as np

rng = np.random.default_rng(9)
series = rng.normal(size=(180, 50, 2)).astype("float32")
target = series[:, 10:20, 0].max(axis=1) + 0.5 * series[:, :, 1].mean(axis=1)

inp = Input((50, 2))
# multi-scale convolutions, as in inception
small = Conv1D(8, 3, activation="relu")(inp)  # <- FIT305
large = Conv1D(8, 9, activation="relu")(inp)  # <~ FIT305
merged = Concatenate(axis=-1)([small, large])
pooled = GlobalMaxPooling1D()(merged)
out = Dense(1)(pooled)

model = Model(inp, out)
model.compile(optimizer="adam", loss="mse")
model.fit(series, target, epochs=2, batch_size=30, verbose=2)
