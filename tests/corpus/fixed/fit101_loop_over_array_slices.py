import numpy as np, tensorflow as tf
def get_data():
    x = np.random.rand(64, 8, 8).astype("float32")
    y = np.random.randint(0, 2, 64)
    return x, y
x, y = get_data()
net = tf.keras.Sequential([tf.keras.Input((64,)), tf.keras.layers.Dense(1, activation="sigmoid")])
bce = tf.keras.losses.BinaryCrossentropy()
opt = tf.keras.optimizers.SGD()
for epoch in range(2):
    for i in range(0, 64, 16):
        xb, yb = x[i:i + 16], y[i:i + 16]
        with tf.GradientTape() as tape:
            loss = bce(yb[:, None], net(tf.reshape(xb, (-1, 64))))
        g = tape.gradient(loss, net.trainable_variables)
        opt.apply_gradients(zip(g, net.trainable_variables))
