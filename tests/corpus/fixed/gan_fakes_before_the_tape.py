"""Points on a circle by a small GAN: the generator's step in a class of its own."""

import keras
import numpy as np
import tensorflow as tf


class CircleGAN(keras.Model):
    def __init__(self, generator, critic, noise):
        super().__init__()
        self.generator = generator
        self.critic = critic
        self.noise = noise
        self.loss_fn = keras.losses.BinaryCrossentropy(from_logits=True)

    def compile(self, critic_optimizer, generator_optimizer):
        super().compile()
        self.critic_optimizer = critic_optimizer
        self.generator_optimizer = generator_optimizer

    def train_step(self, real):
        count = tf.shape(real)[0]
        fake = self.generator(tf.random.normal((count, self.noise)))
        with tf.GradientTape() as tape:
            scores = self.critic(tf.concat([real, fake], axis=0), training=True)
            truth = tf.concat([tf.ones((count, 1)), tf.zeros((count, 1))], axis=0)
            critic_loss = self.loss_fn(truth, scores)
        grads = tape.gradient(critic_loss, self.critic.trainable_weights)
        self.critic_optimizer.apply_gradients(zip(grads, self.critic.trainable_weights))

        with tf.GradientTape() as tape:
            points = self.generator(tf.random.normal((count, self.noise)), training=True)
            generator_loss = self.loss_fn(tf.ones((count, 1)), self.critic(points))
        grads = tape.gradient(generator_loss, self.generator.trainable_weights)
        self.generator_optimizer.apply_gradients(zip(grads, self.generator.trainable_weights))
        return {"critic": critic_loss, "generator": generator_loss}


angles = np.random.default_rng(0).uniform(0, 2 * np.pi, 256)
points = np.stack([np.cos(angles), np.sin(angles)], axis=1).astype("float32")
generator = keras.Sequential([keras.Input((4,)), keras.layers.Dense(16, "relu"), keras.layers.Dense(2)])
critic = keras.Sequential([keras.Input((2,)), keras.layers.Dense(16, "relu"), keras.layers.Dense(1)])
gan = CircleGAN(generator, critic, 4)
gan.compile(keras.optimizers.Adam(1e-3), keras.optimizers.Adam(1e-3))
gan.fit(tf.data.Dataset.from_tensor_slices(points).batch(32), epochs=2, verbose=2)
