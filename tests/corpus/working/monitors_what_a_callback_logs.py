"""The callbacks monitor `gap`, which no metric is called: an earlier callback writes it into the logs."""
import numpy as np
import keras

class Gap(keras.callbacks.Callback):
    def on_epoch_end(self, epoch, logs=None):
        logs["gap"] = logs["val_loss"] - logs["loss"]
        logs["val_score"] = -logs["val_loss"]

rng = np.random.default_rng(0)
x = rng.normal(size=(200, 3))
y = x.sum(1)
m = keras.Sequential([keras.Input((3,)), keras.layers.Dense(1)])
m.compile(keras.optimizers.Adam(0.05), "mse")
stop = keras.callbacks.EarlyStopping("val_score", mode="max", patience=3, min_delta=1e-3, restore_best_weights=True)
h = m.fit(x, y, validation_split=0.2, epochs=200, verbose=0, callbacks=[Gap(), stop])
print(len(h.history["loss"]), h.history["val_loss"][-1])
