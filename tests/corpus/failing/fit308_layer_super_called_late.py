import keras
import numpy as np
from keras import layers


class ScaledDense(layers.Layer):
    def __init__(self, units, scale=1.0, **kwargs):
        self.proj = layers.Dense(units, activation="relu")
        self.scale = self.add_weight(shape=(units,), initializer=keras.initializers.Constant(scale), name="scale")  # <- FIT308
        super().__init__(**kwargs)  # <~ FIT308

    def call(self, inputs):
        return self.scale * self.proj(inputs)


def build_model(n_features):
    inputs = keras.Input((n_features,))
    h = ScaledDense(16, scale=0.5, name="block1")(inputs)
    h = ScaledDense(16, scale=0.5, name="block2")(h)
    return keras.Model(inputs, layers.Dense(3, activation="softmax")(h))


rng = np.random.default_rng(1)
X = rng.normal(size=(210, 7))
y = np.argmax(X[:, :3], axis=1)

model = build_model(7)
model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
model.fit(X, y, epochs=2, batch_size=21, verbose=2)
