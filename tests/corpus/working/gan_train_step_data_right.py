import numpy as np
import tensorflow as tf

class GAN(tf.keras.Model):
    def __init__(self, d, g):
        super().__init__()
        self.d, self.g = d, g
        self.m = tf.keras.metrics.Mean(name="d_loss")

    def compile(self, d_opt, loss_fn):
        super().compile()
        self.d_opt, self.loss_fn = d_opt, loss_fn

    @property
    def metrics(self):
        return [self.m]

    def train_step(self, real):
        bs = tf.shape(real)[0]
        fake = self.g(tf.random.normal((bs, 4)))
        with tf.GradientTape() as t:
            p = self.d(tf.concat([fake, real], 0))
            l = self.loss_fn(tf.concat([tf.ones((bs, 1)), tf.zeros((bs, 1))], 0), p)
        g = t.gradient(l, self.d.trainable_weights)
        self.d_opt.apply_gradients(zip(g, self.d.trainable_weights))
        self.m.update_state(l)
        return {"d_loss": self.m.result()}

d = tf.keras.Sequential([tf.keras.Input((10,)), tf.keras.layers.Dense(1)])
g = tf.keras.Sequential([tf.keras.Input((4,)), tf.keras.layers.Dense(10)])
gan = GAN(d, g)
gan.compile(tf.keras.optimizers.Adam(), tf.keras.losses.BinaryCrossentropy(from_logits=True))
gan.fit(tf.data.Dataset.from_tensor_slices(np.random.rand(40, 10).astype("float32")).batch(10), epochs=1, verbose=0)
