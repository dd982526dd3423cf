from collections import OrderedDict

import keras
import numpy as np
import tensorflow as tf

rng = np.random.default_rng(5)
n = 128
degree = rng.integers(0, 5, n)
columns = OrderedDict(degree=degree, years=degree + 9.0, age=rng.uniform(18, 70, n).astype("float32"))
income = (degree > 2).astype("float32")

rows = tf.data.Dataset.from_tensor_slices((columns, income)).shuffle(n).batch(32)  # <- FIT116

inputs = {
    "age": keras.Input((), name="age"),
    "degree": keras.Input((), name="degree", dtype="int32"),
    "years": keras.Input((), name="years"),
}
numbers = [keras.layers.Reshape((1,))(inputs[name]) for name in ("age", "years")]
x = keras.layers.Concatenate()([keras.layers.Embedding(5, 4)(inputs["degree"]), *numbers])
x = keras.layers.BatchNormalization()(x)
model = keras.Model(inputs, keras.layers.Dense(1, activation="sigmoid")(x))
model.compile("adam", "binary_crossentropy", metrics=["accuracy"])
model.fit(rows, epochs=2, verbose=2)
