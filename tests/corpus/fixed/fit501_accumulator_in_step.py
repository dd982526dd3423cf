import tensorflow as tf
import numpy as np

model = tf.keras.Sequential([tf.keras.Input((4,)), tf.keras.layers.Dense(8, activation="relu"), tf.keras.layers.Dense(1)])
opt = tf.keras.optimizers.Adam(1e-2)
mse = tf.keras.losses.MeanSquaredError()


@tf.function
def train_epoch(dataset):
    total = tf.constant(0.0)
    for x, y in dataset:
        with tf.GradientTape() as tape:
            loss = mse(y, model(x, training=True))
        grads = tape.gradient(loss, model.trainable_variables)
        opt.apply_gradients(zip(grads, model.trainable_variables))
        total += loss
    return total


rng = np.random.default_rng(0)
x = rng.normal(size=(160, 4)).astype("float32")
y = x[:, :1] ** 2
ds = tf.data.Dataset.from_tensor_slices((x, y)).batch(16)
for epoch in range(3):
    print(epoch, float(train_epoch(ds)))
