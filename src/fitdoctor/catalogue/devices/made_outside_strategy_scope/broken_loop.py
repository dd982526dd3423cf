"""A custom training loop on two replicas."""

import keras
import numpy as np
import tensorflow as tf

cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
with strategy.scope():
    model = keras.Sequential([keras.Input((5,)), keras.layers.Dense(1)])
    optimizer = keras.optimizers.Adam()  # <- FIT604


def step(x, y):
    with tf.GradientTape() as tape:
        errors = tf.reduce_sum((model(x, training=True) - y) ** 2, axis=-1)
        loss = tf.nn.compute_average_loss(errors, global_batch_size=16)
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
    return loss


@tf.function
def train(x, y):
    return strategy.reduce("SUM", strategy.run(step, args=(x, y)), axis=None)


rng = np.random.default_rng(20)
x = rng.normal(size=(64, 5)).astype("float32")
data = tf.data.Dataset.from_tensor_slices((x, x[:, :1])).batch(16)
for x, y in strategy.experimental_distribute_dataset(data):
    train(x, y)
