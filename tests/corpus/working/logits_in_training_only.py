"""A model whose `call` returns logits in training and probabilities otherwise."""

import keras
import numpy as np
import tensorflow as tf


class Classifier(keras.Model):
    def __init__(self):
        super().__init__()
        self.hidden = keras.layers.Dense(8, activation="relu")
        self.out = keras.layers.Dense(3)

    def call(self, inputs, is_training=False):
        scores = self.out(self.hidden(inputs))
        if not is_training:
            scores = tf.nn.softmax(scores)
        return scores


def loss_of(scores, labels):
    loss = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=tf.cast(labels, tf.int64), logits=scores)
    return tf.reduce_mean(loss)


x = np.random.rand(32, 4).astype("float32")
y = np.random.randint(0, 3, 32)
classifier = Classifier()
optimizer = keras.optimizers.SGD(0.1)
batches = tf.data.Dataset.from_tensor_slices((x, y)).batch(8)
for batch, labels in batches:
    with tf.GradientTape() as tape:
        scores = classifier(batch, is_training=True)
        loss = loss_of(scores, labels)
    variables = classifier.trainable_variables
    optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
print(classifier(x, is_training=False)[0])
