"""Train with a custom step on labels read as floats from a table."""

import keras
import numpy as np
import tensorflow as tf

rng = np.random.default_rng(4)
rooms = rng.normal(size=(64, 6)).astype("float32")
kinds = rng.integers(0, 3, 64).astype("float32")
model = keras.Sequential([keras.Input((6,)), keras.layers.Dense(3)])
optimizer = keras.optimizers.Adam()


@tf.function
def step(x, y):
    with tf.GradientTape() as tape:
        scores = model(x, training=True)
        each = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=tf.cast(y, tf.int32), logits=scores)
        loss = tf.reduce_mean(each)
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
    return loss


for x, y in tf.data.Dataset.from_tensor_slices((rooms, kinds)).batch(16):
    step(x, y)
