"""A custom training loop on two replicas."""

import numpy as np
import tensorflow as tf

cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
x = np.random.default_rng(27).normal(size=(64, 3)).astype("float32")
batches = tf.data.Dataset.from_tensor_slices((x, x[:, :1])).batch(32)
with strategy.scope():
    model = tf.keras.Sequential([tf.keras.Input((3,)), tf.keras.layers.Dense(1)])
    optimizer = tf.keras.optimizers.SGD(0.05)


def replica_step(features, target):
    with tf.GradientTape() as tape:
        errors = tf.reduce_sum(tf.square(target - model(features, training=True)), axis=-1)
        loss = tf.nn.compute_average_loss(errors, global_batch_size=32)
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    return loss


@tf.function
def step(batch):
    return strategy.run(replica_step, args=batch)


for batch in strategy.experimental_distribute_dataset(batches):
    step(batch)
