import numpy as np
import tensorflow as tf

class AE(tf.keras.Model):  # <- FIT318
    def __init__(self):
        super().__init__()
        self.enc = tf.keras.layers.Dense(4)
        self.dec = tf.keras.layers.Dense(10)
        self.total = tf.keras.metrics.Mean(name="loss")

    def train_step(self, data):
        x, _ = data
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(x - self.dec(self.enc(x))))
        g = tape.gradient(loss, self.trainable_weights)
        self.optimizer.apply_gradients(zip(g, self.trainable_weights))
        self.total.update_state(loss)
        return {"loss": self.total.result()}

x = np.random.rand(40, 10).astype("float32")
m = AE()
m.compile(optimizer="adam")
m.fit(x, x, epochs=1, validation_split=0.2, verbose=0)  # <~ FIT318
