import tensorflow as tf
import numpy as np

model = tf.keras.Sequential([tf.keras.Input((3,)), tf.keras.layers.Dense(4, activation="relu"), tf.keras.layers.Dense(1)])
opt = tf.keras.optimizers.Adam()

@tf.function
def train_step(x, y, kl_weight):
    with tf.GradientTape() as tape:
        p = model(x, training=True)
        loss = tf.reduce_mean((p - y) ** 2) + kl_weight * tf.add_n([tf.nn.l2_loss(w) for w in model.trainable_weights])
    g = tape.gradient(loss, model.trainable_variables)
    opt.apply_gradients(zip(g, model.trainable_variables))
    return loss

X = np.random.rand(64, 3).astype("float32"); Y = X.sum(1, keepdims=True)
for epoch in range(12):
    kl = epoch / 12
    for i in range(0, 64, 32):
        loss = train_step(tf.constant(X[i:i+32]), tf.constant(Y[i:i+32]), tf.constant(kl, tf.float32))
    print(epoch, float(loss))
