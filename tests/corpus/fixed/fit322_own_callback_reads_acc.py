import numpy as np, tensorflow as tf
from tensorflow import keras
class LossHistory(keras.callbacks.Callback):
    def on_train_begin(self, logs={}):
        self.losses = []
    def on_batch_end(self, batch, logs={}):
        self.losses.append(logs.get("loss"))
    def on_epoch_end(self, epoch, logs={}):
        if logs.get("accuracy") > 0.95:
            self.model.stop_training = True
(x, y) = np.random.rand(100, 8), np.random.randint(0, 2, 100)
m = keras.Sequential([keras.layers.Dense(8, activation="relu"), keras.layers.Dense(1, activation="sigmoid")])
m.compile("adam", "binary_crossentropy", metrics=["accuracy"])
m.fit(x, y, epochs=3, callbacks=[LossHistory()], verbose=0)
