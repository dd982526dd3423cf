"""nested Python lists of numbers are accepted as data

an extra key in a dict of inputs is ignored

a call may pass data with a different number of axes than the previous one

a generator may yield lists instead of tuples

`steps_per_epoch` may be a float

a model with a known input shape accepts samples of unknown rank
"""

import numpy as np
import tensorflow as tf
import tf_keras as keras


def dense():
    model = keras.Sequential([keras.layers.Dense(1, input_shape=(2,))])
    model.compile("sgd", "mse")
    return model


x, y = np.ones((8, 2)), np.ones((8, 1))
dense().fit(x.tolist(), y.tolist(), verbose=0)
model = dense()
model.fit(x, y, verbose=0)
model.fit(x, y[:, 0], verbose=0)  # labels with one axis fewer
dense().fit(([rows, labels] for rows, labels in [(x, y)] * 3), verbose=0)
dense().fit(x, y, batch_size=2, steps_per_epoch=8 / 2, verbose=0)

inputs = {"bid": keras.Input((1,), name="bid"), "rank": keras.Input((1,), name="rank")}
model = keras.Model(inputs, inputs["rank"] + 0 * inputs["bid"])
given = {"bid": np.zeros((4, 1)), "log_bid": np.ones((4, 1)), "rank": np.full((4, 1), 2.0)}
assert (model.predict(given, verbose=0) == 2).all()


def without_rank(row):
    row = tf.py_function(lambda value: value, [row], tf.float32)
    return row, tf.ones((1,))


dense().fit(tf.data.Dataset.from_tensor_slices(x.astype("float32")).map(without_rank).batch(4), verbose=0)
