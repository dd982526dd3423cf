import numpy as np
import tensorflow as tf
from tensorflow.keras import layers


class Attention(layers.Layer):
    def __init__(self, steps):
        super().__init__()
        self.score = layers.Dense(1)
        self.last_weights = None

    def call(self, x):
        a = tf.nn.softmax(self.score(x), axis=1)
        self.last_weights = tf.reduce_mean(a, axis=0)[:, 0]  # <- FIT401
        return tf.reduce_sum(a * x, axis=1)


class AttentionLogger(tf.keras.callbacks.Callback):
    def on_epoch_end(self, epoch, logs=None):
        layer = self.model.get_layer(index=0)
        w = layer.last_weights.numpy()  # <~ FIT401
        print("epoch", epoch, "attention peak at step", int(np.argmax(w)))


rng = np.random.default_rng(0)
x = rng.normal(size=(192, 10, 4)).astype("float32")
y = x[:, 3, 0] * 2.0

model = tf.keras.Sequential([tf.keras.Input((10, 4)), Attention(10), layers.Dense(1)])
model.compile("adam", "mse")
model.fit(x, y, epochs=2, batch_size=32, callbacks=[AttentionLogger()], verbose=0)
