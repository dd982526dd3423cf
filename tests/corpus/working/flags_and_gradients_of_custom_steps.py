"""Training steps that leave `training` out, or do not apply gradients, and mean it."""

import keras
import tensorflow as tf

x = tf.random.normal((32, 6), seed=1)
y = tf.reduce_sum(x, axis=1, keepdims=True)
loss_of = keras.losses.MeanSquaredError()
optimizer = keras.optimizers.SGD(0.01)

plain = keras.Sequential([keras.Input((6,)), keras.layers.Dense(8, activation="relu"), keras.layers.Dense(1)])

inputs = keras.Input((6,))
hidden = keras.layers.Dropout(0.2)(keras.layers.Dense(8)(inputs), training=True)
always_dropping = keras.Model(inputs, keras.layers.Dense(1)(hidden))

body = keras.Sequential([keras.Input((6,)), keras.layers.Dense(8), keras.layers.BatchNormalization()])
body.trainable = False
on_frozen_body = keras.Sequential([body, keras.layers.Dense(1)])


class TrainsByDefault(keras.Model):
    """Its `call` says what happens if nobody does."""

    def __init__(self):
        super().__init__()
        self.drop = keras.layers.Dropout(0.2)
        self.out = keras.layers.Dense(1)

    def call(self, features, training=True):
        return self.out(self.drop(features, training=training))


by_default = TrainsByDefault()


for _ in range(2):
    with tf.GradientTape() as tape:
        loss = loss_of(y, plain(x))
    gradients = tape.gradient(loss, plain.trainable_variables)
    keras.optimizers.SGD(0.01).apply_gradients(zip(gradients, plain.trainable_variables))

for _ in range(2):
    with tf.GradientTape() as tape:
        loss = loss_of(y, always_dropping(x))
    gradients = tape.gradient(loss, always_dropping.trainable_variables)
    keras.optimizers.SGD(0.01).apply_gradients(zip(gradients, always_dropping.trainable_variables))

for _ in range(2):
    with tf.GradientTape() as tape:
        loss = loss_of(y, by_default(x))
    gradients = tape.gradient(loss, by_default.trainable_variables)
    keras.optimizers.SGD(0.01).apply_gradients(zip(gradients, by_default.trainable_variables))

for _ in range(2):
    with tf.GradientTape() as tape:
        loss = loss_of(y, on_frozen_body(x))
    gradients = tape.gradient(loss, on_frozen_body.trainable_variables)
    optimizer.apply_gradients(zip(gradients, on_frozen_body.trainable_variables))

dropping = keras.Sequential([keras.Input((6,)), keras.layers.Dropout(0.5), keras.layers.Dense(1)])


def saliency(features):
    """Gradients of the input, not of the weights: the model is used, not trained."""
    with tf.GradientTape() as tape:
        tape.watch(features)
        score = dropping(features)
    return tape.gradient(score, features)


def largest_gradient(features, labels):
    """A step that looks at gradients and leaves the weights alone."""
    with tf.GradientTape() as tape:
        loss = loss_of(labels, plain(features, training=True))
    gradients = tape.gradient(loss, plain.trainable_variables)
    return max(float(tf.norm(each)) for each in gradients)


print(saliency(x).shape, largest_gradient(x, y))
