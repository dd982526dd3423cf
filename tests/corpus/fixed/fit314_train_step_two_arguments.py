import numpy as np
import tensorflow as tf
from tensorflow.keras import layers


class MixupModel(tf.keras.Model):
    """Mixup inside the training step."""

    def train_step(self, data):
        x, y = data
        lam = tf.random.uniform(())
        order = tf.random.shuffle(tf.range(tf.shape(x)[0]))
        x_mix = lam * x + (1 - lam) * tf.gather(x, order)
        y_mix = lam * y + (1 - lam) * tf.gather(y, order)
        with tf.GradientTape() as tape:
            pred = self(x_mix, training=True)
            loss = self.compute_loss(x=x_mix, y=y_mix, y_pred=pred)
        grads = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.trainable_variables))
        self._loss_tracker.update_state(loss)
        return {"loss": self._loss_tracker.result()}


inputs = layers.Input((6,))
h = layers.Dense(24, activation="relu")(inputs)
model = MixupModel(inputs, layers.Dense(3, activation="softmax")(h))
model.compile(optimizer="adam", loss="categorical_crossentropy")

rng = np.random.default_rng(8)
x = rng.normal(size=(180, 6)).astype("float32")
y = np.eye(3, dtype="float32")[x[:, :3].argmax(axis=1)]
model.fit(x, y, epochs=2, batch_size=30, verbose=2)
