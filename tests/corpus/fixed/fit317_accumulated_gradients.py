"""The loss tracker gets the loss, the others labels and predictions."""

import keras
import numpy as np
import tensorflow as tf


class Accumulating(keras.Model):
    def __init__(self, batches, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.batches = batches
        self.seen = tf.Variable(0, trainable=False)
        self.sums = [tf.Variable(tf.zeros(weight.shape), trainable=False) for weight in self.trainable_variables]

    def train_step(self, data):
        x, y = data
        self.seen.assign_add(1)
        with tf.GradientTape() as tape:
            y_pred = self(x, training=True)
            loss = self.compute_loss(y=y, y_pred=y_pred)
        for total, gradient in zip(self.sums, tape.gradient(loss, self.trainable_variables)):
            total.assign_add(gradient)
        tf.cond(tf.equal(self.seen, self.batches), self.apply_sums, lambda: None)
        for metric in self.metrics:
            if metric.name == "loss":
                metric.update_state(loss)
            else:
                metric.update_state(y, y_pred)
        return {metric.name: metric.result() for metric in self.metrics}

    def apply_sums(self):
        self.optimizer.apply_gradients(zip(self.sums, self.trainable_variables))
        self.seen.assign(0)
        for total in self.sums:
            total.assign(tf.zeros_like(total))


inputs = keras.Input((4,))
outputs = keras.layers.Dense(3, activation="softmax")(inputs)
model = Accumulating(4, inputs=inputs, outputs=outputs)
model.compile(optimizer="adam", loss="sparse_categorical_crossentropy", metrics=["accuracy"])
rng = np.random.default_rng(8)
model.fit(rng.random((48, 4)), rng.integers(0, 3, 48), epochs=2, batch_size=6, verbose=0)
