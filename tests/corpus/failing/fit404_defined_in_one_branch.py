import tensorflow as tf
import numpy as np


class ScheduledTrainer:
    def __init__(self):
        self.model = tf.keras.Sequential([
            tf.keras.Input((3,)),
            tf.keras.layers.Dense(16, activation="relu"),
            tf.keras.layers.Dense(1),
        ])
        self.opt = tf.keras.optimizers.Adam(1e-2)
        self.step = tf.Variable(0, dtype=tf.int64, trainable=False)

    @tf.function
    def train_step(self, x, y):
        with tf.GradientTape() as tape:
            err = y - self.model(x, training=True)
            mse = tf.reduce_mean(err ** 2)
            if self.step > 5:
                penalty = 0.1 * tf.reduce_mean(tf.abs(err))  # <- FIT404
            loss = mse + penalty  # <~ FIT404
        grads = tape.gradient(loss, self.model.trainable_variables)
        self.opt.apply_gradients(zip(grads, self.model.trainable_variables))
        self.step.assign_add(1)
        return loss


if __name__ == "__main__":
    rng = np.random.default_rng(0)
    x = tf.constant(rng.normal(size=(64, 3)), tf.float32)
    y = tf.reduce_sum(x, axis=1, keepdims=True)
    trainer = ScheduledTrainer()
    for _ in range(8):
        loss = trainer.train_step(x, y)
    print(float(loss))
