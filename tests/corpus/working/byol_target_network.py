import numpy as np
import tensorflow as tf


def mlp(n_in, n_out):
    return tf.keras.Sequential([tf.keras.Input((n_in,)), tf.keras.layers.Dense(16, activation="relu"), tf.keras.layers.Dense(n_out)])


class BYOL(tf.keras.Model):
    def __init__(self, dim, tau=0.95):
        super().__init__()
        self.online, self.target, self.predictor = mlp(dim, 8), mlp(dim, 8), mlp(8, 8)
        self.target.trainable = False
        self.target.set_weights(self.online.get_weights())
        self.tau = tau
        self.tracker = tf.keras.metrics.Mean(name="loss")

    @property
    def metrics(self):
        return [self.tracker]

    def call(self, x):
        return self.online(x)

    def train_step(self, x):
        a = x + 0.1 * tf.random.normal(tf.shape(x))
        b = x + 0.1 * tf.random.normal(tf.shape(x))
        goal = tf.stop_gradient(tf.math.l2_normalize(self.target(b), axis=-1))
        with tf.GradientTape() as tape:
            p = tf.math.l2_normalize(self.predictor(self.online(a)), axis=-1)
            loss = tf.reduce_mean(2.0 - 2.0 * tf.reduce_sum(p * goal, axis=-1))
        grads = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.trainable_variables))
        for t, o in zip(self.target.variables, self.online.variables):
            t.assign(self.tau * t + (1.0 - self.tau) * o)
        self.tracker.update_state(loss)
        return {"loss": self.tracker.result()}


x = np.random.default_rng(0).normal(size=(128, 6)).astype("float32")
model = BYOL(6)
model.compile(tf.keras.optimizers.Adam(1e-3))
model.fit(x, epochs=1, batch_size=16, verbose=2)
