import numpy as np
import tensorflow as tf
from tensorflow import keras


class MyModel(keras.Model):
    def train_step(self, data):
        x, y = data
        with tf.GradientTape() as tape:
            y_pred = self(x, training=True)
            loss = self.compute_loss(x=x, y=y, y_pred=y_pred)
        grads = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.trainable_variables))
        return loss  # <- FIT316


inputs = keras.Input((32,))
hidden = keras.layers.Dense(16, activation="relu")(inputs)
outputs = keras.layers.Dense(1)(hidden)
model = MyModel(inputs, outputs)
model.compile(optimizer="adam", loss="mse", metrics=["mae"])

rng = np.random.default_rng(1)
x = rng.normal(size=(256, 32)).astype("float32")
y = x[:, :4].sum(axis=1, keepdims=True)
model.fit(x, y, epochs=2, verbose=2)
