import keras
import numpy as np
import tensorflow as tf
from keras import layers


class GradientNoiseModel(keras.Model):
    """Adds gradient noise (Neelakantan et al.)."""

    def train_step(self, data):
        x, y, sample_weight = keras.utils.unpack_x_y_sample_weight(data)
        with tf.GradientTape() as tape:
            y_pred = self(x, training=True)
            loss = self.compute_loss(x, y, y_pred, sample_weight)
        variables = self.trainable_variables
        grads = tape.gradient(loss, variables)
        grads = [g + tf.random.normal(tf.shape(g), stddev=0.01) for g in grads]
        self.optimizer.apply_gradients(zip(grads, variables))
        self._loss_tracker.update_state(loss)
        return self.compute_metrics(x, y, y_pred, sample_weight)


def build():
    inputs = keras.Input((10,))
    h = layers.Dense(32, activation="relu")(inputs)
    outputs = layers.Dense(4, activation="softmax")(h)
    model = GradientNoiseModel(inputs, outputs)
    model.compile(optimizer="adam", loss="sparse_categorical_crossentropy", metrics=["accuracy"])
    return model


if __name__ == "__main__":
    rng = np.random.default_rng(1)
    x = rng.normal(size=(240, 10)).astype("float32")
    y = x[:, :4].argmax(axis=1)
    history = build().fit(x, y, epochs=2, batch_size=24, verbose=0)
    for k, v in history.history.items():
        print(k, v)
