"""A custom model whose loss is collected for every batch."""

import numpy as np
import tensorflow as tf

rng = np.random.default_rng(3)
x = rng.normal(size=(96, 3)).astype("float32")
y = x @ np.array([[1.0], [-2.0], [0.5]], dtype="float32")


class Regressor(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.dense = tf.keras.layers.Dense(1)

    def call(self, inputs):
        return self.dense(inputs)

    def compute_loss(self, x=None, y=None, y_pred=None, sample_weight=None, training=True):
        return tf.reduce_mean(tf.square(y - y_pred))


model = Regressor()
model.compile(optimizer="sgd")
losses = model.fit(x, y, epochs=2, verbose=0).history["loss"]
print("mean loss:", np.mean([float(loss) for loss in losses]))
