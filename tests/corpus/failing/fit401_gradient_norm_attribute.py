import numpy as np
import tensorflow as tf


class MonitoredModel(tf.keras.Model):
    def __init__(self, hidden=16):
        super().__init__()
        self.hidden = tf.keras.layers.Dense(hidden, activation="relu")
        self.out = tf.keras.layers.Dense(1)
        self.grad_norm = 0.0

    def call(self, x):
        return self.out(self.hidden(x))

    def train_step(self, data):
        x, y = data
        with tf.GradientTape() as tape:
            pred = self(x, training=True)
            loss = self.compute_loss(x=x, y=y, y_pred=pred)
        grads = tape.gradient(loss, self.trainable_variables)
        self.grad_norm = tf.linalg.global_norm(grads)  # <- FIT401
        self.optimizer.apply_gradients(zip(grads, self.trainable_variables))
        self._loss_tracker.update_state(loss)
        return {"loss": self._loss_tracker.result()}


rng = np.random.default_rng(3)
x = rng.normal(size=(256, 5)).astype("float32")
y = x[:, :1] - x[:, 1:2] ** 2

model = MonitoredModel()
model.compile(optimizer="adam", loss="mse")
norms = []
for round_ in range(3):
    model.fit(x, y, epochs=1, batch_size=32, verbose=0)
    norms.append(float(model.grad_norm))  # <~ FIT401
print("last gradient norms:", norms)
