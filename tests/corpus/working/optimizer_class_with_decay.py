import numpy as np
import tensorflow as tf
class SignSGD(tf.keras.optimizers.Optimizer):
    def __init__(self, learning_rate=0.01, decay=0.0, name="signsgd"):
        super().__init__(learning_rate=learning_rate, name=name)
        self.decay = decay
    def build(self, variables):
        super().build(variables)
        self.m = [self.add_variable_from_reference(v, "m") for v in variables]
    def update_step(self, gradient, variable, learning_rate):
        m = self.m[self._get_variable_index(variable)]
        m.assign(0.9 * m + 0.1 * gradient)
        variable.assign_sub(learning_rate * tf.sign(m) + self.decay * variable)
m = tf.keras.Sequential([tf.keras.Input((3,)), tf.keras.layers.Dense(1)])
m.compile(SignSGD(0.01, decay=1e-3), "mse")
m.fit(np.random.rand(16, 3), np.random.rand(16, 1), verbose=0)
