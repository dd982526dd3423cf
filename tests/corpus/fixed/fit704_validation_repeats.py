import keras
import numpy as np
import tensorflow as tf


def split(n=200):
    rng = np.random.default_rng(21)
    x = rng.normal(size=(n, 4)).astype("float32")
    y = (0.7 * x[:, 0] - x[:, 2]).astype("float32")
    return (x[:160], y[:160]), (x[160:], y[160:])


def to_ds(arrays, training, batch=20):
    ds = tf.data.Dataset.from_tensor_slices(arrays)
    if training:
        ds = ds.shuffle(len(arrays[0]))
        ds = ds.repeat()
    return ds.batch(batch)


train, valid = split()
train_ds, valid_ds = to_ds(train, True), to_ds(valid, False)

model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(8, activation="relu"), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
model.fit(train_ds, epochs=2, steps_per_epoch=8, validation_data=valid_ds, verbose=2)
print("finished")
