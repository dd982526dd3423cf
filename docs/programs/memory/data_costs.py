"""`fit` copies whole NumPy arrays into tensors, and `from_tensor_slices` keeps two copies."""

import keras
import numpy as np
import tensorflow as tf


def resident():
    """Return the memory of this process in MB."""
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) // 1024 for line in status if line.startswith("VmRSS"))


class Watch(keras.callbacks.Callback):
    def on_train_batch_begin(self, batch, logs=None):
        self.seen = resident()


x = np.ones((100, 1024, 256), "float32")  # 100 MB
tf.constant(0)  # TensorFlow is started before it is measured
before = resident()
dataset = tf.data.Dataset.from_tensor_slices(x)
assert resident() - before > 180

model = keras.Sequential([keras.layers.GlobalAveragePooling1D(), keras.layers.Dense(1)])
model.compile("sgd", "mse")
model.fit(x[:2], np.zeros((2, 1)), verbose=0)  # everything is traced before it is measured
before = resident()
watch = Watch()
model.fit(x, np.zeros((100, 1)), batch_size=2, steps_per_epoch=1, verbose=0, callbacks=[watch])
assert watch.seen - before > 90
