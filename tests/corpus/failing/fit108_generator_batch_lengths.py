import numpy as np, tensorflow as tf
def flow(X, y, bs=16):
    while True:
        for s in range(0, len(X), bs):
            yield X[s:s + bs], y[s:s + bs + 1]  # <- FIT108
X = np.random.rand(64, 4).astype("float32"); y = np.random.rand(64, 1).astype("float32")
m = tf.keras.Sequential([tf.keras.Input((4,)), tf.keras.layers.Dense(1)])
m.compile("adam", "mse")
m.fit(flow(X, y), steps_per_epoch=4, epochs=1)
