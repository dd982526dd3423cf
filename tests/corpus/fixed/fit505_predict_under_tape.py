import numpy as np
import tensorflow as tf

model = tf.keras.Sequential([tf.keras.Input((5,)), tf.keras.layers.Dense(8, activation="relu"), tf.keras.layers.Dense(1)])
opt = tf.keras.optimizers.Adam()
mse = tf.keras.losses.MeanSquaredError()
x, y = np.random.rand(32, 5).astype("float32"), np.random.rand(32, 1).astype("float32")
for epoch in range(2):
    with tf.GradientTape() as tape:
        pred = model(x, training=True)
        loss = mse(y, pred)
    grads = tape.gradient(loss, model.trainable_variables)
    opt.apply_gradients(zip(grads, model.trainable_variables))
