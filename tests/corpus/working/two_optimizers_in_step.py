import numpy as np
import tensorflow as tf


class WideDeep(tf.keras.Model):
    """Ftrl for the wide part, Adam for the deep part."""

    def __init__(self):
        super().__init__()
        self.wide = tf.keras.layers.Dense(1)
        self.deep = tf.keras.Sequential([tf.keras.layers.Dense(16, activation="relu"), tf.keras.layers.Dense(1)])
        self.wide_opt = tf.keras.optimizers.Ftrl(0.05)
        self.deep_opt = tf.keras.optimizers.Adam(1e-3)
        self.tracker = tf.keras.metrics.Mean(name="loss")

    @property
    def metrics(self):
        return [self.tracker]

    def call(self, x, training=None):
        return self.wide(x) + self.deep(x, training=training)

    def train_step(self, data):
        x, y = data
        with tf.GradientTape(persistent=True) as tape:
            loss = tf.reduce_mean(tf.square(y - self(x, training=True)))
        for part, opt in ((self.wide, self.wide_opt), (self.deep, self.deep_opt)):
            grads = tape.gradient(loss, part.trainable_variables)
            opt.apply_gradients(zip(grads, part.trainable_variables))
        del tape
        self.tracker.update_state(loss)
        return {"loss": self.tracker.result()}


rng = np.random.default_rng(5)
x = rng.normal(size=(160, 6)).astype("float32")
y = x[:, :1] + np.abs(x[:, 1:2])
model = WideDeep()
model.compile()
model.fit(x, y, epochs=2, batch_size=20, verbose=2)
