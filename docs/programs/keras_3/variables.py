"""a `tf.Variable` in a layer | `self.add_weight(…)`"""

import keras
import tensorflow as tf
import tf_keras


def layer_of(package):
    class Scale(package.layers.Layer):
        def __init__(self):
            super().__init__()
            self.raw = tf.Variable(1.0)
            self.weight = self.add_weight(name="weight", shape=(), initializer="ones")

    return Scale()


assert len(layer_of(keras).trainable_variables) == 1  # the raw variable is not trained
assert len(layer_of(tf_keras).trainable_variables) == 2
