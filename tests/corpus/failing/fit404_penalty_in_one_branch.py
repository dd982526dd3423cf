import numpy as np
import tensorflow as tf

class Net(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.d1 = tf.keras.layers.Dense(8, activation="relu")
        self.d2 = tf.keras.layers.Dense(1)

    @tf.function
    def step_loss(self, x, y, use_penalty):
        h = self.d1(x)
        pred = self.d2(h)
        loss = tf.reduce_mean((pred - y) ** 2)
        if use_penalty:  # <~ FIT404
            penalty = tf.reduce_mean(tf.abs(h))  # <- FIT404
        return loss + 0.1 * penalty  # <~ FIT404

net = Net()
opt = tf.keras.optimizers.SGD(0.01)
x, y = tf.random.normal((32, 3)), tf.random.normal((32, 1))
net.d1.build((None, 3)); net.d2.build((None, 8))
for i in range(3):
    with tf.GradientTape() as tape:
        loss = net.step_loss(x, y, tf.constant(i % 2 == 0))
    g = tape.gradient(loss, net.trainable_variables)
    opt.apply_gradients(zip(g, net.trainable_variables))
print(float(loss))
