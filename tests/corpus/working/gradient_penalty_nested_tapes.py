import keras
import numpy as np
import tensorflow as tf


class PenalisedRegressor(keras.Model):
    """Keeps the input gradient small (double backpropagation)."""

    def __init__(self, weight=0.01):
        super().__init__()
        self.weight = weight
        self.net = keras.Sequential([keras.layers.Dense(16, activation="tanh"), keras.layers.Dense(1)])
        self.loss_tracker = keras.metrics.Mean(name="loss")
        self.gp_tracker = keras.metrics.Mean(name="penalty")

    @property
    def metrics(self):
        return [self.loss_tracker, self.gp_tracker]

    def call(self, x):
        return self.net(x)

    def train_step(self, data):
        x, y = data
        with tf.GradientTape() as outer:
            with tf.GradientTape() as inner:
                inner.watch(x)
                pred = self(x)
            slope = inner.gradient(pred, x)
            penalty = tf.reduce_mean(tf.reduce_sum(tf.square(slope), axis=1))
            loss = tf.reduce_mean(tf.square(y - pred)) + self.weight * penalty
        grads = outer.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.trainable_variables))
        self.loss_tracker.update_state(loss)
        self.gp_tracker.update_state(penalty)
        return {"loss": self.loss_tracker.result(), "penalty": self.gp_tracker.result()}


x = np.random.default_rng(0).normal(size=(128, 3)).astype("float32")
y = np.sin(x[:, :1])
model = PenalisedRegressor()
model.compile(optimizer="adam")
model.fit(x, y, epochs=2, batch_size=16, verbose=2)
