import numpy as np
import tensorflow as tf


class SimpleGAN:
    def __init__(self, latent=3, lr=1e-3):
        self.latent = latent
        self.G = tf.keras.Sequential([tf.keras.Input((latent,)), tf.keras.layers.Dense(16, activation="relu"), tf.keras.layers.Dense(2)])
        self.D = tf.keras.Sequential([tf.keras.Input((2,)), tf.keras.layers.Dense(16, activation="relu"), tf.keras.layers.Dense(1)])
        self.bce = tf.keras.losses.BinaryCrossentropy(from_logits=True)
        self.optimizer = tf.keras.optimizers.Adam(lr)  # <- FIT504

    def step(self, real):
        z = tf.random.normal((len(real), self.latent))
        with tf.GradientTape() as d_tape, tf.GradientTape() as g_tape:
            fake = self.G(z, training=True)
            real_logits, fake_logits = self.D(real, training=True), self.D(fake, training=True)
            d_loss = self.bce(tf.ones_like(real_logits), real_logits) + self.bce(tf.zeros_like(fake_logits), fake_logits)
            g_loss = self.bce(tf.ones_like(fake_logits), fake_logits)
        d_grads = d_tape.gradient(d_loss, self.D.trainable_variables)
        g_grads = g_tape.gradient(g_loss, self.G.trainable_variables)
        self.optimizer.apply_gradients(zip(d_grads, self.D.trainable_variables))  # <~ FIT504
        self.optimizer.apply_gradients(zip(g_grads, self.G.trainable_variables))  # <~ FIT504
        return float(d_loss), float(g_loss)


if __name__ == "__main__":
    rng = np.random.default_rng(0)
    data = rng.normal([2, 0], 0.3, (128, 2)).astype("float32")
    gan = SimpleGAN()
    for i in range(0, 128, 32):
        print(gan.step(tf.constant(data[i:i + 32])))
