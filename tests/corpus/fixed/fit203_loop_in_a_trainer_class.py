import numpy as np
import tensorflow as tf
from tensorflow import keras

class Trainer:
    def __init__(self, x, y, batch=16):
        self.dataset = tf.data.Dataset.from_tensor_slices((x, y)).batch(batch)
        self.model = keras.Sequential([keras.layers.Dense(8, activation="relu"), keras.layers.Dense(4, activation="softmax")])
        self.loss_fn = keras.losses.SparseCategoricalCrossentropy()
        self.optimizer = keras.optimizers.Adam()

    def step(self, xb, yb):
        with tf.GradientTape() as tape:
            probs = self.model(xb, training=True)
            loss = self.loss_fn(yb, probs)
        grads = tape.gradient(loss, self.model.trainable_weights)
        self.optimizer.apply_gradients(zip(grads, self.model.trainable_weights))
        return loss

    def train(self, epochs):
        for epoch in range(epochs):
            for i, (xb, yb) in enumerate(self.dataset):
                loss = self.step(xb, yb)
            print(epoch, float(loss))

x = np.random.rand(64, 6).astype("float32")
y = np.random.randint(1, 5, size=64) - 1
Trainer(x, y).train(2)
