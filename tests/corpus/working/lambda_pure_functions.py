import numpy as np
import tensorflow as tf
from tensorflow.keras.layers import Input, Dense, Lambda, Concatenate, Reshape
from tensorflow.keras.models import Model

rng = np.random.default_rng(1)
x = rng.uniform(0.1, 2.0, (180, 3)).astype("float32")
y = np.log(x[:, 0]) + x[:, 1] ** 2

inp = Input((3,))
logs = Lambda(lambda t: tf.math.log(t), output_shape=(3,))(inp)
squares = Lambda(lambda t: t ** 2)(inp)
last = Lambda(lambda t: t[:, -1])(inp)
last = Reshape((1,))(last)
features = Concatenate()([logs, squares, last])
model = Model(inp, Dense(1)(Dense(16, activation="relu")(features)))
model.compile("adam", "mse")
model.fit(x, y, epochs=2, batch_size=18, verbose=2)
