"""An optimizer that was written for Keras before 2.11."""

import numpy as np
import tensorflow as tf


class SignSGD(tf.keras.optimizers.Optimizer):
    def __init__(self, learning_rate=0.01, name="SignSGD", **kwargs):
        super().__init__(name, **kwargs)  # <- FIT902
        self._set_hyper("learning_rate", learning_rate)  # <~ FIT902

    def _resource_apply_dense(self, grad, var, apply_state=None):
        var.assign_sub(self._get_hyper("learning_rate") * tf.sign(grad))


m = tf.keras.Sequential([tf.keras.layers.Input((3,)), tf.keras.layers.Dense(1)])
m.compile(SignSGD(), "mse")
m.fit(np.random.rand(9, 3), np.random.rand(9, 1), verbose=0)
