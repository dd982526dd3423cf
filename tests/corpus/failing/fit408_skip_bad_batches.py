import tensorflow as tf
import numpy as np


class RobustModel(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.net = tf.keras.Sequential([tf.keras.layers.Dense(16, activation="relu"), tf.keras.layers.Dense(1)])

    def call(self, x, training=None):
        return self.net(x, training=training)

    def train_step(self, data):
        x, y = data
        with tf.GradientTape() as tape:
            pred = self(x, training=True)
            loss = self.compute_loss(x=x, y=y, y_pred=pred)
        grads = tape.gradient(loss, self.trainable_variables)
        if tf.math.is_finite(loss) and loss < 100.0:  # <- FIT408
            self.optimizer.apply_gradients(zip(grads, self.trainable_variables))
        self._loss_tracker.update_state(loss)
        return {"loss": self._loss_tracker.result()}


rng = np.random.default_rng(10)
x = rng.normal(size=(192, 3)).astype("float32")
y = x[:, :1] * 2 + 1
model = RobustModel()
model.compile(optimizer="adam", loss="mse")
model.fit(x, y, epochs=2, batch_size=32, verbose=2)
