import numpy as np
from tensorflow import keras

i = keras.Input((6,))
h = keras.layers.Dense(8, activation="relu")(i)
m = keras.Model(i, [keras.layers.Dense(1, name="price")(h), keras.layers.Dense(3, activation="softmax", name="type")(h)])
m.compile("adam", loss={"price": "mse", "type": "sparse_categorical_crossentropy"})
m.fit(np.random.rand(24, 6), {"price": np.random.rand(24), "type": np.random.randint(0, 3, 24)}, epochs=1, verbose=0)
