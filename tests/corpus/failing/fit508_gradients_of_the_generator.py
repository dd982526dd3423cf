"""A line of the generator was copied for the discriminator, gradients and all."""

import tensorflow as tf
from tensorflow.keras import layers

generator = tf.keras.Sequential([layers.Input((8,)), layers.Dense(16, "relu"), layers.Dense(4)])
discriminator = tf.keras.Sequential([layers.Input((4,)), layers.Dense(16, "relu"), layers.Dense(1)])
bce = tf.keras.losses.BinaryCrossentropy(from_logits=True)
g_opt, d_opt = tf.keras.optimizers.Adam(1e-4), tf.keras.optimizers.Adam(1e-4)


@tf.function
def train_step(images):
    noise = tf.random.normal([tf.shape(images)[0], 8])
    with tf.GradientTape() as gt, tf.GradientTape() as dt:
        fake = generator(noise, training=True)
        real_out = discriminator(images, training=True)
        fake_out = discriminator(fake, training=True)
        gl = bce(tf.ones_like(fake_out), fake_out)
        dl = bce(tf.ones_like(real_out), real_out) + bce(tf.zeros_like(fake_out), fake_out)
    gg = gt.gradient(gl, generator.trainable_variables)
    dg = dt.gradient(dl, discriminator.trainable_variables)
    g_opt.apply_gradients(zip(gg, generator.trainable_variables))
    d_opt.apply_gradients(zip(gg, discriminator.trainable_variables))  # <- FIT508


for _ in range(2):
    train_step(tf.random.normal((16, 4)))
