"""A training loop that calls the model in inference mode, so its dropout and batch normalization do nothing."""

import tensorflow as tf
from tensorflow import keras

x = tf.random.normal((64, 8), seed=1)
y = tf.reduce_sum(x, axis=1, keepdims=True)
data = tf.data.Dataset.from_tensor_slices((x, y)).batch(16)

model = keras.Sequential(
    [
        keras.Input((8,)),
        keras.layers.Dense(32, activation="relu"),
        keras.layers.BatchNormalization(),
        keras.layers.Dropout(0.3),
        keras.layers.Dense(1),
    ]
)
optimizer = keras.optimizers.Adam()
loss_of = keras.losses.MeanSquaredError()


@tf.function
def train_step(features, labels):
    with tf.GradientTape() as tape:
        loss = loss_of(labels, model(features))  # <- FIT332
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    return loss


for features, labels in data:
    train_step(features, labels)
