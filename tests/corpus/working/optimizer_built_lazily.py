import numpy as np
import tensorflow as tf

model = tf.keras.Sequential([tf.keras.Input((3,)), tf.keras.layers.Dense(12, activation="tanh"), tf.keras.layers.Dense(1)])
optimizer = None
loss_fn = tf.keras.losses.MeanSquaredError()


def get_optimizer():
    global optimizer
    if optimizer is None:
        optimizer = tf.keras.optimizers.Adam(5e-3)
    return optimizer


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        loss = loss_fn(y, model(x, training=True))
    grads = tape.gradient(loss, model.trainable_variables)
    # the slots of Adam are made here, on the first trace
    get_optimizer().apply_gradients(zip(grads, model.trainable_variables))
    return loss


rng = np.random.default_rng(3)
ds = tf.data.Dataset.from_tensor_slices(
    (rng.normal(size=(96, 3)).astype("float32"), rng.normal(size=(96, 1)).astype("float32") * 0.1 + 1.0)
).batch(16)
for xb, yb in ds:
    loss = train_step(xb, yb)
print(float(loss))
