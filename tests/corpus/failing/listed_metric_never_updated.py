import keras
import numpy as np
import tensorflow as tf


class Coder(keras.Model):
    def __init__(self):
        super().__init__()
        self.code, self.back = keras.layers.Dense(3, activation="relu"), keras.layers.Dense(8)
        self.total_loss = keras.metrics.Mean(name="loss")
        self.size = keras.metrics.Mean(name="size")

    @property
    def metrics(self):
        return [self.total_loss, self.size]

    def call(self, x):
        return self.back(self.code(x))

    def train_step(self, x):
        with tf.GradientTape() as tape:
            code = self.code(x)
            loss = tf.reduce_mean(tf.square(self.back(code) - x))
        gradients = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(gradients, self.trainable_variables))
        self.size.update_state(tf.norm(code, axis=1))
        return {metric.name: metric.result() for metric in self.metrics}  # <- FIT317


coder = Coder()
coder.compile(optimizer="adam")
coder.fit(np.random.normal(size=(256, 8)).astype("float32"), epochs=2)
