import numpy as np
import tensorflow as tf


class WarmupTrainer:
    def __init__(self, model, warmup=10, peak=1e-2):
        self.model = model
        self.warmup, self.peak = warmup, peak
        self.opt = tf.keras.optimizers.SGD(learning_rate=0.0)
        self.step = tf.Variable(0, dtype=tf.int64, trainable=False)

    @tf.function
    def train(self, x, y):
        self.step.assign_add(1)
        scale = tf.minimum(1.0, tf.cast(self.step, tf.float32) / self.warmup)
        self.opt.learning_rate.assign(self.peak * scale)
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(y - self.model(x, training=True)))
        grads = tape.gradient(loss, self.model.trainable_variables)
        self.opt.apply_gradients(zip(grads, self.model.trainable_variables))
        return loss


net = tf.keras.Sequential([tf.keras.Input((2,)), tf.keras.layers.Dense(8, activation="relu"), tf.keras.layers.Dense(1)])
trainer = WarmupTrainer(net)
rng = np.random.default_rng(0)
x = tf.constant(rng.normal(size=(32, 2)), tf.float32)
for _ in range(12):
    loss = trainer.train(x, tf.reduce_sum(x, axis=1, keepdims=True))
print(int(trainer.step), float(trainer.opt.learning_rate), float(loss))
