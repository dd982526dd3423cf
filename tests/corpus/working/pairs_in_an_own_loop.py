import tensorflow as tf, numpy as np
# looks alike, is right: pairwise ranking loss; squeezed predictions; labels with their axis
X = np.random.rand(64, 3).astype("float32"); Y = np.random.rand(64).astype("float32")
m = tf.keras.Sequential([tf.keras.Input((3,)), tf.keras.layers.Dense(1)])
opt = tf.keras.optimizers.SGD(0.01)
for i in range(3):
    with tf.GradientTape() as t:
        p = m(X)
        d = p - tf.transpose(p)
        pairs = tf.sign(Y[:, None] - Y[None, :])
        rank = tf.reduce_mean(tf.nn.relu(1.0 - pairs * d))
        fit = tf.reduce_mean((tf.squeeze(m(X), -1) - Y) ** 2) + tf.reduce_mean((p - Y[:, None]) ** 2)
        loss = rank + fit
    g = t.gradient(loss, m.trainable_variables)
    opt.apply_gradients(zip(g, m.trainable_variables))
