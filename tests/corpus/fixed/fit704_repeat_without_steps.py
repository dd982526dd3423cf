import numpy as np
import tensorflow as tf


def make_dataset(n=160, batch=16):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(n, 6)).astype("float32")
    y = (x.sum(axis=1) > 0).astype("float32")
    ds = tf.data.Dataset.from_tensor_slices((x, y))
    return ds.shuffle(n).batch(batch).prefetch(tf.data.AUTOTUNE)


class Net(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.a = tf.keras.layers.Dense(12, activation="relu")
        self.b = tf.keras.layers.Dense(1, activation="sigmoid")

    def call(self, x):
        return self.b(self.a(x))


net = Net()
net.compile(optimizer="adam", loss="binary_crossentropy", metrics=["accuracy"])
net.fit(make_dataset(), epochs=2, verbose=2)
print("finished")
