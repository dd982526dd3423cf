import numpy as np
import keras


class Warmup(keras.callbacks.Callback):
    def __init__(self, epochs):
        super().__init__()
        self.epochs = epochs

    def on_epoch_begin(self, epoch, logs=None):
        if not hasattr(self.model.optimizer, "lr"):  # <- FIT902
            raise ValueError('Optimizer must have a "lr" attribute.')
        rate = float(self.model.optimizer.lr)
        self.model.optimizer.lr = rate * min(1.0, (epoch + 1) / self.epochs)


x = np.random.rand(64, 6).astype("float32")
y = x.sum(axis=1, keepdims=True)
model = keras.Sequential([keras.Input((6,)), keras.layers.Dense(1)])
model.compile(optimizer="sgd", loss="mse")
model.fit(x, y, epochs=3, callbacks=[Warmup(2)], verbose=0)
