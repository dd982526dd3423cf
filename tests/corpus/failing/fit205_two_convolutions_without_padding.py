import numpy as np
import tensorflow as tf
from tensorflow.keras import layers
inp = layers.Input((30, 30, 1))
x = layers.Conv2D(8, 3, activation="relu")(inp)  # <- FIT205
x = layers.Conv2D(8, 3, activation="relu")(x)  # <~ FIT205
out = layers.Conv2D(1, 1, activation="sigmoid")(x)  # <~ FIT205
m = tf.keras.Model(inp, out)
m.compile("adam", "binary_crossentropy")
m.fit(np.random.rand(4, 30, 30, 1), np.random.randint(0, 2, (4, 30, 30, 1)), epochs=1, verbose=0)
