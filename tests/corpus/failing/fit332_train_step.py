"""A classifier with its own `train_step`, which forgets that dropout must be told that it trains."""

import keras
import numpy as np
import tensorflow as tf


class Block(keras.layers.Layer):
    def __init__(self, units):
        super().__init__()
        self.dense = keras.layers.Dense(units, activation="relu")
        self.dropout = keras.layers.Dropout(0.4)

    def call(self, inputs, training=None):
        return self.dropout(self.dense(inputs), training=training)


class Classifier(keras.Model):
    def __init__(self, classes):
        super().__init__()
        self.blocks = [Block(32), Block(16)]
        self.head = keras.layers.Dense(classes)

    def call(self, inputs, training=None):
        for block in self.blocks:
            inputs = block(inputs, training=training)
        return self.head(inputs)

    def train_step(self, data):
        x, y = data
        with tf.GradientTape() as tape:
            logits = self(x)  # <- FIT332
            loss = self.compute_loss(x, y, logits)
        gradients = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply(gradients, self.trainable_variables)
        for metric in self.metrics:
            metric.update_state(loss) if metric.name == "loss" else metric.update_state(y, logits)
        return {metric.name: metric.result() for metric in self.metrics}

    def test_step(self, data):
        x, y = data
        logits = self(x, training=False)
        loss = self.compute_loss(x, y, logits)
        for metric in self.metrics:
            metric.update_state(loss) if metric.name == "loss" else metric.update_state(y, logits)
        return {metric.name: metric.result() for metric in self.metrics}


rng = np.random.default_rng(3)
features = rng.normal(size=(96, 10)).astype("float32")
classes = (features[:, :3].argmax(axis=1)).astype("int32")

model = Classifier(3)
model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=["accuracy"])
model.fit(features, classes, validation_split=0.25, epochs=2, verbose=0)
