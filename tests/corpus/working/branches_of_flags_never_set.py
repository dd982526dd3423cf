"""Code for looking closer stands behind flags of Python that nothing sets: it is never traced."""

import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(0)
DEBUG = False


def error(y_true, y_pred, show=False):
    squares = tf.square(y_true - y_pred)
    if show:
        print(squares.numpy())
    return tf.reduce_mean(squares)


def rendered(model, x, train=True):
    if train:
        found = model(x, training=True)
    else:
        found = model.predict(x)
    return tf.nn.sigmoid(found)


class Features(tf.keras.layers.Layer):
    def __init__(self, mode="fast", log=False):
        super().__init__()
        self.mode, self.log = mode, log
        self.dense = tf.keras.layers.Dense(4)
        self.checked = False

    def call(self, x, verbose=False):
        if verbose:
            print("mean", float(tf.reduce_mean(x)))
        if self.log and DEBUG:
            np.save("features.npy", x.numpy())
        if self.checked:
            assert np.isfinite(x.numpy()).all()
        if self.mode == "exact":
            return tf.constant(np.dot(x, np.ones((3, 4))))
        return self.dense(x)


class Renderer(tf.keras.Model):
    def __init__(self, network):
        super().__init__()
        self.network = network

    def train_step(self, data):
        x, y = data
        with tf.GradientTape() as tape:
            loss = error(y[:, None], rendered(self.network, x))
        gradients = tape.gradient(loss, self.network.trainable_variables)
        self.optimizer.apply_gradients(zip(gradients, self.network.trainable_variables))
        return {"error": loss}


x = np.random.rand(48, 3).astype("float32")
y = x.mean(axis=1)
network = tf.keras.Sequential([tf.keras.Input((3,)), Features(), tf.keras.layers.Dense(1)])
network.compile("adam", error)
network.fit(x, y, epochs=2, verbose=0)
renderer = Renderer(network)
renderer.compile(tf.keras.optimizers.Adam())
renderer.fit(x, y, epochs=2, verbose=0)
assert rendered(network, x, train=False).shape == (48, 1)
