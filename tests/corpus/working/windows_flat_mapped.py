import numpy as np
import tensorflow as tf


def windowed_dataset(series, window_size, batch_size, shuffle_buffer):
    ds = tf.data.Dataset.from_tensor_slices(series)
    ds = ds.window(window_size + 1, shift=1, drop_remainder=True)
    ds = ds.flat_map(lambda w: w.batch(window_size + 1))
    ds = ds.shuffle(shuffle_buffer).map(lambda w: (w[:-1], w[-1]))
    return ds.batch(batch_size).prefetch(1)


series = np.sin(np.arange(200) / 5).astype("float32")
train = windowed_dataset(series, 10, 16, 100)
model = tf.keras.models.Sequential([
    tf.keras.layers.Dense(10, input_shape=[10], activation="relu"),
    tf.keras.layers.Dense(1),
])
model.compile(loss="mse", optimizer=tf.keras.optimizers.SGD(learning_rate=1e-3, momentum=0.9))
model.fit(train, epochs=2, verbose=0)
