import keras
import numpy as np
import tensorflow as tf


class ClippedTrainer(keras.Model):
    def __init__(self, net, clip=1.0):
        super().__init__()
        self.net = net
        self.clip = clip

    def call(self, x, training=None):
        return self.net(x, training=training)

    def train_step(self, data):
        x, y, sample_weight = keras.utils.unpack_x_y_sample_weight(data)
        with tf.GradientTape() as tape:
            pred = self(x, training=True)
            loss = self.compute_loss(x=x, y=y, y_pred=pred, sample_weight=sample_weight)
        variables = self.trainable_variables
        grads = tape.gradient(loss, variables)
        grads, _ = tf.clip_by_global_norm(grads, self.clip)
        self.optimizer.apply_gradients(zip(grads, variables))
        self._loss_tracker.update_state(loss)
        return {"loss": self._loss_tracker.result()}


def main():
    rng = np.random.default_rng(2)
    x = rng.normal(size=(200, 8)).astype("float32")
    y = (x[:, 0] > 1.0).astype("float32").reshape(-1, 1)
    w = np.where(y[:, 0] == 1, 5.0, 1.0)
    net = keras.Sequential([keras.layers.Dense(16, activation="relu"), keras.layers.Dense(1, activation="sigmoid")])
    model = ClippedTrainer(net)
    model.compile(optimizer="adam", loss="binary_crossentropy")
    model.fit(x, y, sample_weight=w, batch_size=25, epochs=2, verbose=2)


if __name__ == "__main__":
    main()
