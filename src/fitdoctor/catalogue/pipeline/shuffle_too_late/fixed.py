"""A shuffled dataset, split into validation and training data."""

import numpy as np
import tensorflow as tf

rng = np.random.default_rng(10)
answers = rng.normal(size=(200, 12)).astype("float32")
passed = rng.integers(0, 2, size=(200, 1)).astype("float32")

survey = tf.data.Dataset.from_tensor_slices((answers, passed))
survey = survey.shuffle(200, reshuffle_each_iteration=False)
validation = survey.take(40).batch(20)
train = survey.skip(40).batch(20)

model = tf.keras.Sequential(
    [tf.keras.Input((12,)), tf.keras.layers.Dense(16, "relu"), tf.keras.layers.Dense(1, "sigmoid")]
)
model.compile("adam", "binary_crossentropy")
model.fit(train, validation_data=validation, epochs=2, verbose=0)
