import numpy as np
import tensorflow as tf
from tensorflow.keras import backend as K


class StepDecay(tf.keras.callbacks.Callback):
    def __init__(self, factor=0.5, every=2):
        super().__init__()
        self.factor, self.every = factor, every

    def on_epoch_begin(self, epoch, logs=None):
        if epoch and epoch % self.every == 0:
            lr = K.get_value(self.model.optimizer.lr)  # <- FIT902
            K.set_value(self.model.optimizer.lr, lr * self.factor)  # <~ FIT902
            print("lr ->", lr * self.factor)


rng = np.random.default_rng(0)
x = rng.uniform(-1, 1, (160, 2)).astype("float32")
y = x[:, 0] ** 2 + x[:, 1]
model = tf.keras.Sequential([tf.keras.Input((2,)), tf.keras.layers.Dense(16, activation="relu"), tf.keras.layers.Dense(1)])
model.compile(tf.keras.optimizers.Adam(1e-2), "mse")
model.fit(x, y, epochs=4, verbose=0, callbacks=[StepDecay()])
