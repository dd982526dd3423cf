"""Train in a custom loop and record what happens at each step."""

import numpy as np
import tensorflow as tf

model = tf.keras.Sequential([tf.keras.Input((8,)), tf.keras.layers.Dense(1)])
optimizer = tf.keras.optimizers.SGD(0.01)
x = np.random.default_rng(30).normal(size=(256, 8)).astype("float32")
batches = tf.data.Dataset.from_tensor_slices((x, x[:, :1])).batch(32)

kept = []
for epoch in range(2):
    for features, target in batches:
        with tf.GradientTape() as tape:
            predicted = model(features, training=True)
            loss = tf.reduce_mean(tf.square(predicted - target))
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables))
        kept.append(float(loss))
print(len(kept))
