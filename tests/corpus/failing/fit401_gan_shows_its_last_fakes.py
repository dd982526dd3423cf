import numpy as np
import tensorflow as tf

class GAN(tf.keras.Model):
    def __init__(self, g, d):
        super().__init__()
        self.g, self.d = g, d
        self.last_fake = None

    def compile(self, g_opt, d_opt):
        super().compile()
        self.g_opt, self.d_opt = g_opt, d_opt
        self.bce = tf.keras.losses.BinaryCrossentropy(from_logits=True)

    def train_step(self, real):
        z = tf.random.normal((tf.shape(real)[0], 4))
        with tf.GradientTape(persistent=True) as tape:
            fake = self.g(z, training=True)
            fl, rl = self.d(fake), self.d(real)
            d_loss = self.bce(tf.ones_like(rl), rl) + self.bce(tf.zeros_like(fl), fl)
            g_loss = self.bce(tf.ones_like(fl), fl)
        self.d_opt.apply_gradients(zip(tape.gradient(d_loss, self.d.trainable_variables), self.d.trainable_variables))
        self.g_opt.apply_gradients(zip(tape.gradient(g_loss, self.g.trainable_variables), self.g.trainable_variables))
        self.last_fake = fake  # <- FIT401
        return {"d": d_loss, "g": g_loss}

class Show(tf.keras.callbacks.Callback):
    def on_epoch_end(self, epoch, logs=None):
        print(np.mean(self.model.last_fake.numpy()))  # <~ FIT401

g = tf.keras.Sequential([tf.keras.layers.Input((4,)), tf.keras.layers.Dense(2)])
d = tf.keras.Sequential([tf.keras.layers.Input((2,)), tf.keras.layers.Dense(1)])
gan = GAN(g, d)
gan.compile(tf.keras.optimizers.Adam(), tf.keras.optimizers.Adam())
gan.fit(np.random.rand(32, 2).astype("float32"), epochs=1, callbacks=[Show()], verbose=0)
