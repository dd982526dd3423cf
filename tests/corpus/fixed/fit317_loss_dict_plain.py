import numpy as np
import tensorflow as tf


class WeightedModel(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.h = tf.keras.layers.Dense(16, activation="relu")
        self.o = tf.keras.layers.Dense(1)

    def call(self, x):
        return self.o(self.h(x))

    def train_step(self, data):
        x, y = data
        with tf.GradientTape() as tape:
            y_pred = self(x, training=True)
            loss = tf.reduce_mean(tf.square(y - y_pred))
        gradients = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(gradients, self.trainable_variables))
        self._loss_tracker.update_state(loss)
        return {"loss": self._loss_tracker.result()}


rng = np.random.default_rng(0)
x = rng.normal(size=(320, 4)).astype("float32")
y = (x[:, :1] * 3 + x[:, 1:2]).astype("float32")
model = WeightedModel()
model.compile(optimizer="adam", loss="mse")
hist = model.fit(x, y, epochs=2, verbose=2)
print(hist.history["loss"])
