import keras
import numpy as np
from keras import layers


class SmallNet:
    """Everything starts at zero so that runs can be compared."""

    def __init__(self, n_in, n_out, width=32):
        init = keras.initializers.Zeros()  # <- FIT002
        inputs = keras.Input((n_in,))
        h = layers.Dense(width, activation="relu", kernel_initializer=init)(inputs)  # <~ FIT002
        h = layers.Dense(width, activation="relu", kernel_initializer=init)(h)  # <~ FIT002
        outputs = layers.Dense(n_out, activation="softmax", kernel_initializer="zeros")(h)  # <~ FIT002
        self.model = keras.Model(inputs, outputs)
        self.model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])

    def fit(self, x, y):
        return self.model.fit(x, y, epochs=5, batch_size=20, verbose=0)


rng = np.random.default_rng(7)
x = rng.normal(size=(240, 5)).astype("float32")
y = x[:, :3].argmax(axis=1)
print(SmallNet(5, 3).fit(x, y).history)
