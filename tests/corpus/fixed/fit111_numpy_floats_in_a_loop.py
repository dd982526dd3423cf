import numpy as np
import tensorflow as tf

rng = np.random.default_rng(3)
pixels = rng.integers(0, 255, (96, 8, 8)).astype("uint8").reshape(-1, 64) / np.float32(255)
digits = rng.integers(0, 10, 96)

weights = tf.Variable(tf.random.normal((64, 10), stddev=0.1))
bias = tf.Variable(tf.zeros(10))
optimizer = tf.optimizers.SGD(0.1)


def train(x, y):
    with tf.GradientTape() as tape:
        logits = tf.matmul(x, weights) + bias
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=logits))
    gradients = tape.gradient(loss, [weights, bias])
    optimizer.apply_gradients(zip(gradients, [weights, bias]))
    return loss


for start in range(0, 96, 32):
    print(float(train(pixels[start : start + 32], digits[start : start + 32])))
