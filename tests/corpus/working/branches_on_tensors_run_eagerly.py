"""`if loss > 0` and float(tensor) in train_step: the model is compiled with run_eagerly=True, and that is why."""
import numpy as np
import tensorflow as tf

class Careful(tf.keras.Model):
    skipped = 0
    def train_step(self, data):
        x, y = data
        with tf.GradientTape() as tape:
            p = self(x, training=True)
            loss = self.compute_loss(y=y, y_pred=p)
        if loss > 1e4:
            Careful.skipped += 1
            return self.compute_metrics(x, y, p)
        grads = tape.gradient(loss, self.trainable_variables)
        norm = float(tf.linalg.global_norm(grads))
        if norm > 5.0:
            grads = [g * 5.0 / norm for g in grads]
        self.optimizer.apply_gradients(zip(grads, self.trainable_variables))
        self._loss_tracker.update_state(loss)
        return self.compute_metrics(x, y, p)

rng = np.random.default_rng(0)
x = rng.normal(size=(320, 2)).astype("float32")
y = x.sum(1)
y[5] = 1e5
inp = tf.keras.Input((2,))
m = Careful(inp, tf.keras.layers.Dense(1)(inp))
m.compile(tf.keras.optimizers.Adam(0.05), "mse", run_eagerly=True)
m.fit(x, y, epochs=10, verbose=0)
w = m.get_weights()[0].ravel()
print(w, Careful.skipped)
