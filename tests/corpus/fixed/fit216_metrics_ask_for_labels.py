import numpy as np
from tensorflow import keras

i = keras.Input((6,))
h = keras.layers.Dense(4, activation="relu", name="embedding")(i)
o = keras.layers.Dense(2, activation="softmax", name="cls")(h)
m = keras.Model(i, {"cls": o, "embedding": h})
m.compile("adam", loss={"cls": "sparse_categorical_crossentropy", "embedding": None}, metrics={"cls": ["accuracy"]})
m.fit(np.random.rand(20, 6), {"cls": np.random.randint(0, 2, 20), "embedding": np.zeros((20, 4))}, epochs=1, verbose=0)
