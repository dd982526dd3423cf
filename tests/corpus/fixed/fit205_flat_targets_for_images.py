import numpy as np
from tensorflow import keras
from tensorflow.keras import layers

x = np.random.rand(40, 28, 28, 1).astype("float32")
flat = x
inp = keras.Input((28, 28, 1))
h = layers.Conv2D(4, 3, padding="same", activation="relu")(inp)
out = layers.Conv2D(1, 3, padding="same", activation="sigmoid")(h)
m = keras.Model(inp, out)
m.compile("adam", "binary_crossentropy")
m.fit(x, flat, epochs=1, verbose=0)
