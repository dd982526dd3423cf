import keras
import numpy as np
import tensorflow as tf
from sklearn.datasets import make_regression


class PhysicsRegressor(keras.Model):
    def __init__(self, width=24):
        super().__init__()
        self.d1 = keras.layers.Dense(width, activation="tanh")
        self.d2 = keras.layers.Dense(1)
        self.loss_tracker = keras.metrics.Mean(name="loss")

    def call(self, x):
        return self.d2(self.d1(x))

    @property
    def metrics(self):
        return [self.loss_tracker]

    def train_step(self, data):
        x, y = data
        with tf.GradientTape() as tape:
            pred = self(x, training=True)
            residual = tf.square(pred - y)  # <- FIT204
            smooth = 1e-3 * tf.add_n([tf.nn.l2_loss(w) for w in self.trainable_variables])
            loss = tf.reduce_mean(residual) + smooth
        grads = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.trainable_variables))
        self.loss_tracker.update_state(loss)
        return {"loss": self.loss_tracker.result()}


X, y = make_regression(n_samples=200, n_features=6, noise=2.0, random_state=0)
X = X.astype("float32")
y = ((y - y.mean()) / y.std()).astype("float32")  # <~ FIT204

model = PhysicsRegressor()
model.compile(optimizer=keras.optimizers.Adam(0.01))
model.fit(X, y, epochs=3, batch_size=25, verbose=2)
