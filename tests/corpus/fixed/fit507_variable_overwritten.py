import tensorflow as tf
import numpy as np

W = tf.Variable(tf.random.normal((3, 1)))
b = tf.Variable(tf.zeros((1,)))
X = np.random.rand(40, 3).astype('float32'); Y = X.sum(1, keepdims=True)
for step in range(3):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((tf.matmul(X, W) + b - Y) ** 2)
    dW, db = tape.gradient(loss, [W, b])
    W.assign_sub(0.1 * dW)
    b.assign_sub(0.1 * db)
    print(float(loss))
