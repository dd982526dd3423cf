import keras
import numpy as np
from keras import layers

rng = np.random.default_rng(3)
x = rng.normal(size=(96, 6)).astype("float32")
y = (x[:, 0] > 0).astype("float32")


class LossLog(keras.callbacks.Callback):
    def __init__(self, every):
        super().__init__()
        self.every = every
        self.step = 0
        self.losses = []

    def on_train_batch_end(self, batch, logs=None):
        self.step += 1
        if self.step % self.every == 0:
            self.losses.append(logs["loss"])


log = LossLog(every=2)
model = keras.Sequential(
    [keras.Input((6,)), layers.Dense(8, activation="relu"), layers.Dense(1, activation="sigmoid")]
)
model.compile(optimizer="adam", loss="binary_crossentropy")
model.fit(x, y, epochs=2, batch_size=16, callbacks=[log], verbose=0)
