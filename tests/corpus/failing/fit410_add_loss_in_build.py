import numpy as np
import tensorflow as tf
from tensorflow.keras import layers


class SparseLinear(layers.Layer):
    """Linear layer with an L1 penalty on its kernel."""

    def __init__(self, units, l1=0.05):
        super().__init__()
        self.units, self.l1 = units, l1

    def build(self, input_shape):
        self.kernel = self.add_weight(shape=(input_shape[-1], self.units), initializer="glorot_uniform", name="kernel")
        self.add_loss(self.l1 * tf.reduce_sum(tf.abs(self.kernel)))  # <- FIT410

    def call(self, x):
        return tf.matmul(x, self.kernel)


rng = np.random.default_rng(2)
X = rng.normal(size=(200, 20)).astype("float32")
y = X[:, 0] * 2.0 - X[:, 3]

model = tf.keras.Sequential([tf.keras.Input((20,)), SparseLinear(1)])
model.compile(optimizer=tf.keras.optimizers.Adam(0.05), loss="mse")
model.fit(X, y, epochs=5, batch_size=20, verbose=0)
print("small weights:", int((np.abs(model.layers[0].kernel.numpy()) < 0.05).sum()))
