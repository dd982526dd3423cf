import numpy as np
import keras
import tensorflow as tf


class DenoisingModel(keras.Model):
    """Adds noise to the input in train_step and learns to predict the clean mean."""

    def __init__(self):
        super().__init__()
        self.h = keras.layers.Dense(16, activation="relu")
        self.o = keras.layers.Dense(1)

    def call(self, x):
        return self.o(self.h(x))

    def train_step(self, data):
        x, y = data
        noisy = x + tf.random.normal(tf.shape(x), stddev=0.1)  # <- FIT111
        with tf.GradientTape() as tape:
            pred = self(noisy, training=True)
            loss = self.compute_loss(x=x, y=y, y_pred=pred)
        grads = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.trainable_variables))
        for metric in self.metrics:
            if metric.name == "loss":
                metric.update_state(loss)
        return {m.name: m.result() for m in self.metrics}


rng = np.random.default_rng(0)
levels = rng.integers(-2, 3, size=(160, 10))  # <~ FIT111
target = levels.mean(axis=1, keepdims=True).astype("float32")

model = DenoisingModel()
model.compile(optimizer="adam", loss="mse")
model.fit(levels, target, epochs=2, batch_size=16, verbose=2)
