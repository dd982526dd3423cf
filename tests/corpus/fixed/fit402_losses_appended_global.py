import numpy as np
import tensorflow as tf
from tensorflow import keras

batch_losses = []


class LoggingModel(keras.Model):
    def train_step(self, data):
        x, y = data
        with tf.GradientTape() as tape:
            y_pred = self(x, training=True)
            loss = self.compute_loss(x=x, y=y, y_pred=y_pred)
        grads = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.trainable_variables))
        self._loss_tracker.update_state(loss)
        return {"loss": self._loss_tracker.result()}


class CollectLosses(keras.callbacks.Callback):
    def on_train_batch_end(self, batch, logs=None):
        batch_losses.append(logs["loss"])


inp = keras.Input((3,))
out = keras.layers.Dense(1)(keras.layers.Dense(8, activation="relu")(inp))
model = LoggingModel(inp, out)
model.compile(optimizer="sgd", loss="mse")

rng = np.random.default_rng(0)
x = rng.normal(size=(128, 3)).astype("float32")
y = x.sum(axis=1, keepdims=True)
model.fit(x, y, epochs=2, verbose=0, callbacks=[CollectLosses()])
curve = np.array([float(v) for v in batch_losses])
print(len(curve), curve.mean())
