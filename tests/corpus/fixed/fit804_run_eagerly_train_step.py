import numpy as np
import tensorflow as tf


class DebugModel(tf.keras.Model):
    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.seen = []

    def train_step(self, data):
        x, y = data
        with tf.GradientTape() as tape:
            pred = self(x, training=True)
            loss = self.compute_loss(x=x, y=y, y_pred=pred)
        grads = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.trainable_variables))
        self.seen.append((float(loss), float(tf.linalg.global_norm(grads))))
        self._loss_tracker.update_state(loss)
        return {"loss": self._loss_tracker.result()}


inp = tf.keras.Input((10,))
out = tf.keras.layers.Dense(1)(tf.keras.layers.Dense(64, activation="relu")(inp))
model = DebugModel(inp, out)
model.compile(optimizer="adam", loss="mse", run_eagerly=True)
x = np.random.default_rng(1).normal(size=(320, 10)).astype("float32")
model.fit(x, x.sum(axis=1, keepdims=True), epochs=2, verbose=2)
print(len(model.seen))
