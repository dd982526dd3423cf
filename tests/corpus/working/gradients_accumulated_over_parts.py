"""A custom loop that splits each batch: the list of gradients begins anew in every step."""

import keras
import numpy as np
import tensorflow as tf

model = keras.Sequential([keras.Input((6,)), keras.layers.Dense(8, activation="relu"), keras.layers.Dense(1)])
optimizer = keras.optimizers.Adam(1e-2)
mse = keras.losses.MeanSquaredError()


def train_on(features, targets, parts=4):
    gradients = []
    for part_x, part_y in zip(tf.split(features, parts), tf.split(targets, parts)):
        with tf.GradientTape() as tape:
            loss = mse(part_y, model(part_x, training=True))
        gradients.append(tape.gradient(loss, model.trainable_variables))
    mean = [tf.add_n(each) / parts for each in zip(*gradients)]
    optimizer.apply_gradients(zip(mean, model.trainable_variables))
    return loss


rng = np.random.default_rng(0)
x = rng.normal(size=(128, 6)).astype("float32")
y = x[:, :1] - x[:, 1:2]
for epoch in range(2):
    for batch_x, batch_y in tf.data.Dataset.from_tensor_slices((x, y)).batch(32):
        loss = train_on(batch_x, batch_y)
    print(f"epoch {epoch}: {float(loss):.3f}")
