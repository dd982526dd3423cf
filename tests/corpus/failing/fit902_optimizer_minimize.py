import tensorflow as tf
import numpy as np

x = np.linspace(0, 1, 50).astype("float32")
y = 3.0 * x + 2.0 + 0.05 * np.random.default_rng(0).normal(size=50).astype("float32")

slope = tf.Variable(0.0)
intercept = tf.Variable(0.0)
opt = tf.keras.optimizers.SGD(learning_rate=0.3)


def loss():
    return tf.reduce_mean(tf.square(slope * x + intercept - y))


for i in range(60):
    opt.minimize(loss, var_list=[slope, intercept])  # <- FIT902

print(slope.numpy(), intercept.numpy())
