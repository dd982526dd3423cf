"""Kinds of soil from their spectra: a model class in a loop of one's own, whose last layer gives scores."""

import keras
import numpy as np
import tensorflow as tf

random = np.random.default_rng(21)
kinds = random.integers(0, 4, 480)
spectra = (random.normal(size=(4, 10))[kinds] + random.normal(size=(480, 10))).astype("float32")
batches = tf.data.Dataset.from_tensor_slices((spectra, kinds)).shuffle(480, seed=3).batch(48)


class Soil(keras.Model):
    def __init__(self, widths, count):
        super().__init__()
        self.hidden = [keras.layers.Dense(width, activation="relu") for width in widths]
        self.norm = keras.layers.BatchNormalization()
        self.score = keras.layers.Dense(count)

    def call(self, spectrum, training=False):
        for layer in self.hidden:
            spectrum = layer(spectrum)
        return self.score(self.norm(spectrum, training=training))


soil = Soil([24, 12], 4)
criterion = keras.losses.SparseCategoricalCrossentropy()  # <- FIT210
descent = keras.optimizers.Adam(0.01)
mean = keras.metrics.Mean()


@tf.function
def learn(spectrum, kind):
    with tf.GradientTape() as tape:
        error = criterion(kind, soil(spectrum, training=True))
    slopes = tape.gradient(error, soil.trainable_variables)
    descent.apply_gradients(zip(slopes, soil.trainable_variables, strict=True))
    mean.update_state(error)


for epoch in range(2):
    mean.reset_state()
    for spectrum, kind in batches:
        learn(spectrum, kind)
    print(epoch, float(mean.result()))
