import tensorflow as tf
import numpy as np

rng = np.random.default_rng(1)
X = rng.normal(size=(200, 2)).astype("float32")
Y = (X[:, :1] * 1.5 - 0.3).astype("float32")
ds = tf.data.Dataset.from_tensor_slices((X, Y)).shuffle(200).batch(20)

w = tf.Variable(tf.zeros((2, 1)))
b = tf.Variable(0.0)
opt = tf.keras.optimizers.SGD(0.1)
history = []


@tf.function
def train_on_batch(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((tf.matmul(x, w) + b - y) ** 2)
    opt.apply_gradients(zip(tape.gradient(loss, [w, b]), [w, b]))
    return loss


for epoch in range(3):
    for x, y in ds:
        history.append(float(train_on_batch(x, y)))

print("mean loss", tf.reduce_mean(tf.stack(history)).numpy())
