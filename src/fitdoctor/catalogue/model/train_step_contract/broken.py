import keras
import numpy as np
import tensorflow as tf


class ClippedModel(keras.Model):
    """Clips each gradient separately."""

    def train_step(self, data):
        x, y = data  # <- FIT316
        with tf.GradientTape() as tape:
            predicted = self(x, training=True)
            loss = self.compute_loss(x=x, y=y, y_pred=predicted)
        gradients = tape.gradient(loss, self.trainable_variables)
        clipped = [tf.clip_by_norm(gradient, 1.0) for gradient in gradients]
        self.optimizer.apply_gradients(zip(clipped, self.trainable_variables))
        for metric in self.metrics:
            if metric.name == "loss":
                metric.update_state(loss)
        return {metric.name: metric.result() for metric in self.metrics}


rng = np.random.default_rng(0)
x = rng.normal(size=(200, 6)).astype("float32")
y = (x[:, 0] + x[:, 1] > 1.0).astype("float32").reshape(-1, 1)

inputs = keras.Input((6,))
hidden = keras.layers.Dense(16, activation="relu")(inputs)
model = ClippedModel(inputs, keras.layers.Dense(1, activation="sigmoid")(hidden))
model.compile(optimizer="adam", loss="binary_crossentropy")
model.fit(x, y, class_weight={0: 1.0, 1: 4.0}, epochs=2, verbose=0)
