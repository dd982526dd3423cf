"""Call a loss with the predictions first in a training loop."""

import numpy as np
import tensorflow as tf
from tensorflow import keras

rng = np.random.default_rng(0)
x = rng.normal(size=(256, 8)).astype("float32")
y = (x[:, :1] > 0).astype("float32")
data = tf.data.Dataset.from_tensor_slices((x, y)).batch(32)

model = keras.Sequential([keras.Input((8,)), keras.layers.Dense(1, activation="sigmoid")])
optimizer = keras.optimizers.Adam()
loss_of = keras.losses.BinaryCrossentropy()

for features, labels in data:
    with tf.GradientTape() as tape:
        predictions = model(features, training=True)
        loss = loss_of(predictions, labels)  # <- FIT223
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
