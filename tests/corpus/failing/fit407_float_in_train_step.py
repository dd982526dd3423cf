import tensorflow as tf
import numpy as np
from tensorflow import keras


class EMAModel(keras.Model):
    """Keeps a running average of the loss to scale gradients."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.ema = 1.0

    def train_step(self, data):
        x, y = data
        with tf.GradientTape() as tape:
            pred = self(x, training=True)
            loss = self.compute_loss(x=x, y=y, y_pred=pred)
        self.ema = 0.9 * self.ema + 0.1 * float(loss)  # <- FIT407
        grads = tape.gradient(loss, self.trainable_variables)
        grads = [g / self.ema for g in grads]
        self.optimizer.apply_gradients(zip(grads, self.trainable_variables))
        self._loss_tracker.update_state(loss)
        return {"loss": self._loss_tracker.result()}


inp = keras.Input((4,))
model = EMAModel(inp, keras.layers.Dense(1)(keras.layers.Dense(12, activation="relu")(inp)))
model.compile(optimizer=keras.optimizers.SGD(0.01), loss="mse")
rng = np.random.default_rng(0)
x = rng.normal(size=(128, 4)).astype("float32")
model.fit(x, x.sum(axis=1, keepdims=True), epochs=2, verbose=2)
