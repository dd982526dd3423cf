import numpy as np
import tensorflow as tf

rng = np.random.default_rng(0)
signals = rng.normal(size=(96, 64)).astype("float32")
fast = rng.integers(0, 2, 96)
t = np.arange(64)
signals += np.where(fast[:, None] == 1, np.sin(1.5 * t), np.sin(0.3 * t)).astype("float32") * 2


def spectrum(signal):
    power = np.abs(np.fft.rfft(signal.numpy())) ** 2
    return np.log1p(power).astype("float32")


def prepare(signal, label):
    features = tf.py_function(spectrum, [signal], tf.float32)
    features.set_shape((33,))
    return features, label


ds = tf.data.Dataset.from_tensor_slices((signals, fast)).map(prepare).batch(16)
model = tf.keras.Sequential([tf.keras.Input((33,)), tf.keras.layers.Dense(8, activation="relu"), tf.keras.layers.Dense(1, activation="sigmoid")])
model.compile("adam", "binary_crossentropy", metrics=["accuracy"])
model.fit(ds, epochs=2, verbose=2)
