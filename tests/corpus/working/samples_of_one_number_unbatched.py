"""A dataset of one number per sample that nothing batches: Keras takes each element for a batch of one."""

import numpy as np
import tensorflow as tf

a = np.arange(0, 1, 0.01).reshape(-1, 1)
b = np.random.default_rng(0).random((100, 1))
train = tf.data.Dataset.from_tensor_slices(({"a": a, "b": b}, 3 * a + 4 * b))

first = tf.keras.Input((1,), name="a")
second = tf.keras.Input((1,), name="b")
model = tf.keras.Model(
    [first, second], tf.keras.layers.Add()([tf.keras.layers.Dense(1)(first), tf.keras.layers.Dense(1)(second)])
)
model.compile(optimizer=tf.keras.optimizers.SGD(0.01), loss="mse")
model.fit(train, epochs=1)
