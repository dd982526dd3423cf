from tensorflow.keras.layers import Input, Dense, Dot
from tensorflow.keras.models import Model, Sequential
import numpy as np

rng = np.random.default_rng(0)
proto = rng.normal(size=(4, 6)) * 2
a, b = rng.integers(0, 4, (2, 200))
left = (proto[a] + 0.3 * rng.normal(size=(200, 6))).astype("float32")
right = (proto[b] + 0.3 * rng.normal(size=(200, 6))).astype("float32")
same = (a == b).astype("float32")

shared = Sequential([Input((6,)), Dense(16, activation="relu"), Dense(8)])
in1, in2 = Input((6,)), Input((6,))
cosine = Dot(axes=1, normalize=True)([shared(in1), shared(in2)])
out = Dense(1, activation="sigmoid")(cosine)
model = Model([in1, in2], out)
model.compile("adam", "binary_crossentropy", metrics=["accuracy"])
model.fit([left, right], same, epochs=2, batch_size=20, verbose=2)
