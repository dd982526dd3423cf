"""A model trained with `fit`, then fine-tuned by a custom step function."""

import numpy as np
import tensorflow as tf

rng = np.random.default_rng(12)
x = rng.normal(size=(96, 4)).astype("float32")
y = x.sum(axis=1, keepdims=True)

model = tf.keras.Sequential([tf.keras.Input((4,)), tf.keras.layers.Dense(1)])
model.compile(optimizer=tf.keras.optimizers.SGD(0.01), loss="mse")
model.fit(x, y, epochs=1, verbose=0)


@tf.function
def fine_tune(batch, target, step):
    rate = 0.01 / (1.0 + tf.cast(step, tf.float32))
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(batch) - target))
    for variable, gradient in zip(model.trainable_variables, tape.gradient(loss, model.trainable_variables)):
        variable.assign_sub(rate * gradient)
    return loss


dataset = tf.data.Dataset.from_tensor_slices((x, y)).batch(8)
for step, (batch, target) in enumerate(dataset):
    loss = fine_tune(batch, target, step)  # <- FIT412
print(float(loss))
