import numpy as np
from tensorflow import keras


class FreezeEmbedding(keras.callbacks.Callback):
    """Freezes the embedding after some epochs."""

    def __init__(self, at_epoch):
        super().__init__()
        self.at_epoch = at_epoch

    def on_epoch_begin(self, epoch, logs=None):
        if epoch == self.at_epoch:
            self.model.get_layer("words").trainable = False  # <- FIT323
            print("embedding frozen")


rng = np.random.default_rng(0)
ids = rng.integers(0, 80, (200, 15))
target = (ids < 20).mean(axis=1).astype("float32")

model = keras.Sequential([
    keras.Input((15,), dtype="int32"),
    keras.layers.Embedding(80, 8, name="words"),
    keras.layers.GlobalAveragePooling1D(),
    keras.layers.Dense(1),
])
model.compile(optimizer="adam", loss="mse")
model.fit(ids, target, epochs=4, batch_size=25, callbacks=[FreezeEmbedding(2)], verbose=0)
