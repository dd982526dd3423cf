import numpy as np
from tensorflow.keras import layers, Model

i = layers.Input((100, 4))
a = layers.Conv1D(8, 3, activation="relu")(i)  # <~ FIT305
b = layers.Conv1D(8, 5, activation="relu")(i)
c = layers.Conv1D(8, 7, activation="relu")(i)
m = layers.concatenate([a, b, c])  # <- FIT305
x = layers.Flatten()(m)
o = layers.Dense(1, activation="sigmoid")(x)
model = Model(i, o)
model.compile("adam", "binary_crossentropy")
model.fit(np.random.rand(8, 100, 4), np.random.randint(0, 2, 8), epochs=1, verbose=0)
