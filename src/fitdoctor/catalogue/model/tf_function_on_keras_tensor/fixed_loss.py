import numpy as np
from tensorflow import keras

rng = np.random.default_rng(9)
x = rng.normal(size=(150, 8)).astype("float32")

inputs = keras.Input((8,))
codes = keras.layers.Dense(3, activation="tanh", activity_regularizer=keras.regularizers.L1(0.1))(inputs)
model = keras.Model(inputs, keras.layers.Dense(8)(codes))


def sparse_reconstruction(y_true, y_pred):
    return keras.ops.mean(keras.ops.square(y_true - y_pred), axis=-1)


model.compile(optimizer="adam", loss=sparse_reconstruction)
model.fit(x, x, epochs=2, verbose=0)
