import numpy as np
import tensorflow as tf
from tensorflow import keras

class Ranker(keras.Model):
    def __init__(self):
        super().__init__()
        self.score = keras.layers.Dense(1)
    def train_step(self, data):
        x, y = data
        with tf.GradientTape() as tape:
            s = tf.squeeze(self.score(x), -1)
            pos = tf.reduce_mean(tf.nn.sigmoid(s[:, None] - s[None, :]) * tf.cast(y[:, None] < y[None, :], tf.float32))
            loss = pos
        g = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(g, self.trainable_variables))
        return {"ndcg_loss": loss}

m = Ranker()
m.compile(optimizer="adam")
m.fit(np.random.rand(32, 5).astype("float32"), np.random.rand(32).astype("float32"), epochs=1, batch_size=8)
