"""Train a GAN whose generator learns to be taken for the data."""

import numpy as np
import tensorflow as tf
from tensorflow import keras

rng = np.random.default_rng(0)
data = tf.data.Dataset.from_tensor_slices(rng.normal(2.0, 0.5, (256, 2)).astype("float32")).batch(32)
generator = keras.Sequential([keras.Input((4,)), keras.layers.Dense(16, activation="relu"), keras.layers.Dense(2)])
discriminator = keras.Sequential([keras.Input((2,)), keras.layers.Dense(16, activation="relu"), keras.layers.Dense(1)])
crossentropy = keras.losses.BinaryCrossentropy(from_logits=True)
generator_optimizer, discriminator_optimizer = keras.optimizers.Adam(), keras.optimizers.Adam()


def discriminator_loss(real, fake):
    return crossentropy(tf.ones_like(real), real) + crossentropy(tf.zeros_like(fake), fake)


def generator_loss(fake):
    return crossentropy(tf.ones_like(fake), fake)


@tf.function
def train_step(samples):
    noise = tf.random.normal((32, 4))
    with tf.GradientTape() as g_tape, tf.GradientTape() as d_tape:
        made = generator(noise, training=True)
        real, fake = discriminator(samples, training=True), discriminator(made, training=True)
        g_loss, d_loss = generator_loss(fake), discriminator_loss(real, fake)
    g_gradients = g_tape.gradient(g_loss, generator.trainable_variables)
    d_gradients = d_tape.gradient(d_loss, discriminator.trainable_variables)
    generator_optimizer.apply_gradients(zip(g_gradients, generator.trainable_variables))
    discriminator_optimizer.apply_gradients(zip(d_gradients, discriminator.trainable_variables))


for batch in data:
    train_step(batch)
