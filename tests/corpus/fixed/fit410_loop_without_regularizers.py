"""A training loop over a model whose layers are regularized."""
import numpy as np
import tensorflow as tf


def build(width, penalty):
    decay = tf.keras.regularizers.L2(penalty)
    return tf.keras.Sequential(
        [
            tf.keras.Input((5,)),
            tf.keras.layers.Dense(width, activation="relu", kernel_regularizer=decay),
            tf.keras.layers.Dense(1),
        ]
    )


model = build(16, 1e-2)
optimizer = tf.keras.optimizers.Adam(1e-2)
criterion = tf.keras.losses.MeanSquaredError()


@tf.function
def step(x, y):
    with tf.GradientTape() as tape:
        loss = criterion(y, model(x, training=True))
        loss += sum(model.losses)
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    return loss


x = np.random.default_rng(0).normal(size=(64, 5)).astype("float32")
for epoch in range(3):
    for batch in tf.data.Dataset.from_tensor_slices((x, x.sum(1, keepdims=True))).batch(16):
        loss = step(*batch)
    print(float(loss))
