"""`compile` and the optimizer may be outside the strategy's scope, even in a loop with `strategy.run`; the model may not

a batch with fewer samples than replicas trains

metrics, and layers adapted to data, must be created inside the scope
"""

import numpy as np
import tensorflow as tf
import tf_keras as keras

cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
x, y = np.ones((9, 2), "float32"), np.ones((9, 1), "float32")


def dense(*layers):
    return keras.Sequential([keras.Input((2,)), *layers, keras.layers.Dense(1)])


def raises(action):
    try:
        action()
    except (ValueError, RuntimeError):
        return True
    return False


with strategy.scope():
    model, other = dense(), dense()
model.compile("adam", "mse")
model.fit(x[:1], y[:1], verbose=0)  # one sample for two replicas

optimizer = keras.optimizers.Adam()


@tf.function
def step():
    def replica():
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((other(x) - y) ** 2) / 2
        gradients = tape.gradient(loss, other.trainable_variables)
        optimizer.apply_gradients(zip(gradients, other.trainable_variables, strict=True))

    strategy.run(replica)


step()


def outside():
    made_outside = dense()
    with strategy.scope():
        made_outside.compile("adam", "mse")
    made_outside.fit(x, y, verbose=0)


def metric_outside():
    with strategy.scope():
        inside = dense()
    inside.compile("adam", "mse", metrics=[keras.metrics.MeanAbsoluteError()])
    inside.fit(x, y, verbose=0)


def adapted_outside():
    scaling = keras.layers.Normalization()
    scaling.adapt(x)
    with strategy.scope():
        inside = dense(scaling)
        inside.compile("adam", "mse")
    inside.fit(x, y, verbose=0)


assert raises(outside)
assert raises(metric_outside) and raises(adapted_outside)
