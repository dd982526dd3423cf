import numpy as np
import tensorflow as tf

model = tf.keras.Sequential([tf.keras.Input((3,)), tf.keras.layers.Dense(12, activation="relu"), tf.keras.layers.Dense(1)])
opt = tf.keras.optimizers.Adam(1e-2)
rng = np.random.default_rng(0)
x = rng.normal(size=(90, 3)).astype("float32")
y = x[:, :1] * x[:, 1:2]

history = []
for epoch in range(2):
    order = np.random.permutation(len(x))
    for start in range(0, len(x), 30):
        idx = order[start:start + 30]
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(model(x[idx], training=True) - y[idx]))
        grads = tape.gradient(loss, model.trainable_variables)
        if not np.isfinite(loss.numpy()):
            raise RuntimeError("loss is not finite")
        if loss > 10.0:
            print("large loss", float(loss))
        opt.apply_gradients(zip(grads, model.trainable_variables))
        history.append(float(loss))
    print(epoch, np.mean(history[-3:]))
