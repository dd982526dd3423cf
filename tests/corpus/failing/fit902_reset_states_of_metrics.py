import numpy as np
import tensorflow as tf
from tensorflow import keras

class Trainer:
    def __init__(self, model, lr=1e-3):
        self.model = model
        self.optimizer = keras.optimizers.Adam(lr)
        self.loss_fn = keras.losses.BinaryCrossentropy()
        self.train_loss = keras.metrics.Mean()
        self.train_acc = keras.metrics.BinaryAccuracy()

    def step(self, x, y):
        with tf.GradientTape() as tape:
            p = self.model(x, training=True)
            loss = self.loss_fn(y, p)
        g = tape.gradient(loss, self.model.trainable_variables)
        self.optimizer.apply_gradients(zip(g, self.model.trainable_variables))
        self.train_loss.update_state(loss)
        self.train_acc.update_state(y, p)

    def train(self, ds, epochs):
        for epoch in range(epochs):
            for x, y in ds:
                self.step(x, y)
            print(epoch, self.train_loss.result().numpy(), self.train_acc.result().numpy())
            self.train_loss.reset_states()  # <- FIT902
            self.train_acc.reset_states()

if __name__ == "__main__":
    x = np.random.rand(32, 4).astype("float32"); y = (x.sum(1, keepdims=True) > 2).astype("float32")
    ds = tf.data.Dataset.from_tensor_slices((x, y)).batch(8)
    m = keras.Sequential([keras.Input((4,)), keras.layers.Dense(1, activation="sigmoid")])
    Trainer(m).train(ds, 2)
