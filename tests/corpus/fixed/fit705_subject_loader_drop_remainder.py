import keras
import numpy as np
import tensorflow as tf


class Loader:
    def __init__(self, batch_size):
        self.batch_size = batch_size

    def subjects(self):
        rng = np.random.default_rng(0)
        for subject in range(8):
            x = rng.normal(size=(20, 5)).astype("float32")
            yield subject, x, (x[:, 0] > 0).astype("float32")

    def for_subject(self, wanted):
        for subject, x, y in self.subjects():
            if subject == wanted:
                ds = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(len(y))
                return ds.batch(self.batch_size)
        raise KeyError(wanted)


loader = Loader(batch_size=32)
inp = keras.Input((5,))
model = keras.Model(inp, keras.layers.Dense(1, activation="sigmoid")(inp))
model.compile("adam", "binary_crossentropy", metrics=["accuracy"])
model.fit(loader.for_subject(3), epochs=3, verbose=2)
