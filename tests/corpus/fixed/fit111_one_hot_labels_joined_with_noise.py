"""A conditional generator: the one-hot labels are float64, the noise that they are joined with is float32."""

import keras
import numpy as np
import tensorflow as tf
from keras import layers

CLASSES, NOISE = 4, 6
pictures = np.random.default_rng(0).random((32, 8)).astype("float32")
labels = keras.utils.to_categorical(np.arange(32) % CLASSES, CLASSES)
dataset = tf.data.Dataset.from_tensor_slices((pictures, labels)).batch(16)

generator = keras.Sequential([keras.Input((NOISE + CLASSES,)), layers.Dense(8)])


class Conditional(keras.Model):
    def __init__(self, generator):
        super().__init__()
        self.generator = generator
        self.tracker = keras.metrics.Mean(name="distance")

    @property
    def metrics(self):
        return [self.tracker]

    def train_step(self, data):
        real, one_hot = data
        noise = tf.random.normal((tf.shape(real)[0], NOISE))
        with tf.GradientTape() as tape:
            fake = self.generator(tf.concat([noise, tf.cast(one_hot, tf.float32)], axis=1))
            loss = tf.reduce_mean(tf.square(fake - real))
        grads = tape.gradient(loss, self.generator.trainable_weights)
        self.optimizer.apply_gradients(zip(grads, self.generator.trainable_weights))
        self.tracker.update_state(loss)
        return {"distance": self.tracker.result()}


model = Conditional(generator)
model.compile(optimizer="adam")
model.fit(dataset, epochs=1, verbose=0)
