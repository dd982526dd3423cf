import tensorflow as tf
import numpy as np
x = np.random.rand(64, 5).astype("float32")
y = tf.keras.utils.to_categorical(np.random.randint(0, 4, 64), 4)
model = tf.keras.Sequential([tf.keras.Input((5,)), tf.keras.layers.Dense(4, activation="softmax")])
cce = tf.keras.losses.CategoricalCrossentropy()
opt = tf.keras.optimizers.Adam()
def gen(x, y, bs=16):
    idx = np.random.permutation(len(x))
    for i in range(0, len(x), bs):
        b = idx[i:i + bs]
        yield x[b], y[b]
for epoch in range(2):
    for xb, yb in gen(x, y):
        with tf.GradientTape() as tape:
            out = model(xb)
            loss = cce(yb, out)
        opt.apply_gradients(zip(tape.gradient(loss, model.trainable_weights), model.trainable_weights))
