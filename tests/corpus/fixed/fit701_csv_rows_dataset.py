import keras
import numpy as np
import tensorflow as tf

rng = np.random.default_rng(0)
ROWS = tf.constant([f"{a:.3f},{b:.3f},{c:.3f},{int(a > b)}" for a, b, c in rng.normal(size=(180, 3))])


def parse_line(line):
    *feats, label = tf.io.decode_csv(line, record_defaults=[0.0, 0.0, 0.0, 0.0])
    return tf.stack(feats), label


def get_dataset(batch_size=18, shuffle=True):
    ds = tf.data.Dataset.from_tensor_slices(ROWS).map(parse_line, num_parallel_calls=2)
    if shuffle:
        ds = ds.shuffle(len(ROWS))
    return ds.batch(batch_size).prefetch(tf.data.AUTOTUNE)


class Logistic(keras.Model):
    def __init__(self):
        super().__init__()
        self.hidden = keras.layers.Dense(6, activation="relu")
        self.out = keras.layers.Dense(1, activation="sigmoid")

    def call(self, x):
        return self.out(self.hidden(x))


model = Logistic()
model.compile(optimizer="adam", loss="binary_crossentropy")
model.fit(get_dataset(), epochs=2, verbose=2)
