"""A training loop passes logits to an operation that applies the softmax itself."""

import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(0)
rng = np.random.default_rng(0)
x = rng.normal(size=(64, 4)).astype("float32")
y = rng.integers(0, 3, 64)
head = tf.keras.layers.Dense(3)
model = tf.keras.Sequential([tf.keras.Input((4,)), head])
optimizer = tf.keras.optimizers.Adam(0.01)
for _epoch in range(3):
    with tf.GradientTape() as tape:
        scores = model(x, training=True)
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=scores))
    variables = model.trainable_variables
    optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
