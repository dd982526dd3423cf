"""Step of its own."""

import numpy as np
import tensorflow as tf
import keras
from keras import layers
keras.utils.set_random_seed(1)

class Trainer(keras.Model):
    def train_step(self, data):
        x, y = data
        with tf.GradientTape() as tape:
            y_pred = self(x, training=True)
            loss = self.compute_loss(y=y, y_pred=y_pred)
        grads = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.trainable_variables))
        for m in self.metrics:
            if m.name == "loss":
                m.update_state(loss)
            else:
                m.update_state(y, y_pred)
        return {m.name: m.result() for m in self.metrics}

inp = keras.Input((8,))
model = Trainer(inp, layers.Dense(3, activation="softmax")(inp))
model.compile("adam", "sparse_categorical_crossentropy")
x = np.random.rand(64, 8).astype("float32")
y = np.random.randint(0, 3, 64)
model.fit(x, y, epochs=2, verbose=0)
