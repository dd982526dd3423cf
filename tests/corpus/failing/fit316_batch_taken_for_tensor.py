import numpy as np
import tensorflow as tf

class GAN(tf.keras.Model):
    def __init__(self, d, g):
        super().__init__()
        self.d, self.g = d, g

    def compile(self, d_opt, g_opt, loss_fn):
        super().compile()
        self.d_opt, self.g_opt, self.loss_fn = d_opt, g_opt, loss_fn

    def train_step(self, real):
        bs = tf.shape(real)[0]  # <- FIT316
        fake = self.g(tf.random.normal((bs, 4)))
        with tf.GradientTape() as t:
            p = self.d(tf.concat([fake, real], 0))
            l = self.loss_fn(tf.concat([tf.ones((bs, 1)), tf.zeros((bs, 1))], 0), p)
        g = t.gradient(l, self.d.trainable_weights)
        self.d_opt.apply_gradients(zip(g, self.d.trainable_weights))
        return {"d_loss": l}

d = tf.keras.Sequential([tf.keras.Input((10,)), tf.keras.layers.Dense(1)])
g = tf.keras.Sequential([tf.keras.Input((4,)), tf.keras.layers.Dense(10)])
x = np.random.rand(40, 10).astype("float32")
ds = tf.data.Dataset.from_tensor_slices((x, np.zeros(40))).batch(10)  # <~ FIT316
gan = GAN(d, g)
gan.compile(tf.keras.optimizers.Adam(), tf.keras.optimizers.Adam(), tf.keras.losses.BinaryCrossentropy(from_logits=True))
gan.fit(ds, epochs=1, verbose=0)
