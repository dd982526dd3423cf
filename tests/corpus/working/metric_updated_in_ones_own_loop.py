"""A metric with loops over tensors: no model is compiled with it, so it runs eagerly or in a `tf.function`."""

import keras
import numpy as np
import tensorflow as tf


class MatchedBoxes(keras.metrics.Metric):
    def __init__(self, threshold=0.5, name="matched", **kwargs):
        super().__init__(name=name, **kwargs)
        self.threshold = threshold
        self.matched = self.add_weight(name="matched", initializer="zeros")

    def update_state(self, boxes, scores, sample_weight=None):
        for i in tf.range(tf.shape(scores)[0]):
            if tf.reduce_max(scores[i]) >= self.threshold:
                self.matched.assign_add(tf.cast(tf.shape(boxes[i])[0], tf.float32))

    def result(self):
        return self.matched


images = tf.constant(np.random.default_rng(0).random((16, 8)), tf.float32)
boxes = tf.constant(np.random.default_rng(1).random((16, 4)), tf.float32)
model = keras.Sequential([keras.Input((8,)), keras.layers.Dense(4)])
optimizer = keras.optimizers.Adam()
in_graph, eager = MatchedBoxes(), MatchedBoxes()


@tf.function
def train_step(images, boxes):
    with tf.GradientTape() as tape:
        predicted = model(images, training=True)
        loss = tf.reduce_mean(tf.square(predicted - boxes))
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
    in_graph.update_state(boxes, boxes)
    return loss


for _ in range(2):
    train_step(images, boxes)
    eager.update_state(boxes, model(images))
print(float(in_graph.result()), float(eager.result()))
