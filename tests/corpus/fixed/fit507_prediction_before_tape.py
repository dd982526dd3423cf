import tensorflow as tf
import numpy as np

X = tf.constant(np.random.rand(100, 1), dtype=tf.float32)
Y = 3 * X + 2

W = tf.Variable(0.0)
b = tf.Variable(0.0)
opt = tf.keras.optimizers.SGD(learning_rate=0.1)

def predict(x):
    return W * x + b

for epoch in range(20):
    with tf.GradientTape() as tape:
        y_hat = predict(X)
        loss = tf.reduce_mean(tf.square(Y - y_hat))
    grads = tape.gradient(loss, [W, b])
    opt.apply_gradients(zip(grads, [W, b]))
print(W.numpy(), b.numpy())
