import numpy as np
import tensorflow as tf
from tensorflow.keras import layers


class NoisyDense(layers.Layer):
    def __init__(self, units, stddev=0.1):
        super().__init__()
        self.dense = layers.Dense(units, activation="relu")
        self.noise = layers.GaussianNoise(stddev)

    def call(self, x):
        return self.noise(self.dense(x))


class Net(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.block1 = NoisyDense(16)
        self.block2 = NoisyDense(16)
        self.out = layers.Dense(3, activation="softmax")

    def call(self, x, training=None):
        x = self.block1(x, training=training)
        x = self.block2(x, training=training)
        return self.out(x)


rng = np.random.default_rng(8)
x = rng.normal(size=(180, 6)).astype("float32")
y = x[:, :3].argmax(axis=1)
net = Net()
net.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
net.fit(x, y, epochs=2, batch_size=30, verbose=2)
