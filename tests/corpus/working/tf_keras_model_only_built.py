"""A Keras 2 model creates a variable in `call`; the program calls it once, on an `Input`, and trains nothing."""

import tensorflow as tf
import tf_keras


class Scaled(tf_keras.Model):
    def __init__(self):
        super().__init__()
        self.dense = tf_keras.layers.Dense(3)

    def call(self, inputs):
        scale = tf.Variable(2.0)
        return self.dense(inputs) * scale


model = Scaled()
outputs = model(tf_keras.Input((4,)))
print(outputs.shape, len(model.weights))
