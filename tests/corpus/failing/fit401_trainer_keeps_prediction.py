import tensorflow as tf
import numpy as np


class Trainer:
    def __init__(self, model, lr=1e-2):
        self.model = model
        self.opt = tf.keras.optimizers.Adam(lr)
        self.loss_fn = tf.keras.losses.MeanSquaredError()
        self.residual = None

    @tf.function
    def step(self, x, y):
        with tf.GradientTape() as tape:
            pred = self.model(x, training=True)
            loss = self.loss_fn(y, pred)
        grads = tape.gradient(loss, self.model.trainable_variables)
        self.opt.apply_gradients(zip(grads, self.model.trainable_variables))
        self.residual = y - pred  # <- FIT401
        return loss

    def fit(self, x, y, epochs):
        for epoch in range(epochs):
            loss = self.step(x, y)
            worst = tf.reduce_max(tf.abs(self.residual))  # <~ FIT401
            print(f"epoch {epoch} loss {loss:.4f} worst {worst:.3f}")


inputs = np.random.default_rng(0).uniform(-2, 2, (128, 1)).astype("float32")
targets = np.sin(inputs)
net = tf.keras.Sequential([tf.keras.Input((1,)), tf.keras.layers.Dense(16, activation="tanh"), tf.keras.layers.Dense(1)])
Trainer(net).fit(tf.constant(inputs), tf.constant(targets), epochs=3)
