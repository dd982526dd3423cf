"""`fit` copies an array into tensors before its first step."""

import keras
import numpy as np


def resident():
    """Return the memory of this process in MB."""
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) // 1024 for line in status if line.startswith("VmRSS"))


class Watch(keras.callbacks.Callback):
    def on_train_batch_begin(self, batch, logs=None):
        self.seen = resident()


x = np.ones((200, 1024, 256), "float32")  # 200 MB
model = keras.Sequential([keras.layers.GlobalAveragePooling1D(), keras.layers.Dense(1)])
model.compile("sgd", "mse")
model.fit(x[:2], np.zeros((2, 1)), verbose=0)  # everything is traced before it is measured
before = resident()
watch = Watch()
model.fit(x, np.zeros((200, 1)), batch_size=2, steps_per_epoch=1, verbose=0, callbacks=[watch])
assert watch.seen - before > 180
