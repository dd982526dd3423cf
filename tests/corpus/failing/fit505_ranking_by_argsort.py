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
            order = tf.argsort(s, direction="DESCENDING")  # <- FIT505
            gains = tf.gather(y, order)
            loss = -tf.reduce_sum(gains / tf.math.log(2.0 + tf.range(tf.cast(tf.shape(gains)[0], tf.float32))))
        g = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(g, self.trainable_variables))
        return {"ndcg_loss": loss}

m = Ranker()
m.compile(optimizer="adam")
m.fit(np.random.rand(32, 5).astype("float32"), np.random.rand(32).astype("float32"), epochs=1, batch_size=8)
