import numpy as np
import tensorflow as tf

series = np.sin(np.arange(200) / 8).astype("float32")
window_size = 20


def windowed_dataset(series, window_size, shuffle_buffer):
    dataset = tf.data.Dataset.from_tensor_slices(series)
    dataset = dataset.window(window_size + 1, shift=1, drop_remainder=True)
    dataset = dataset.flat_map(lambda window: window.batch(window_size + 1))
    dataset = dataset.shuffle(shuffle_buffer).map(lambda window: (window[:-1], window[-1]))
    return dataset.prefetch(1)  # <- FIT701


train = windowed_dataset(series, window_size, 50)
model = tf.keras.models.Sequential(
    [
        tf.keras.layers.Dense(10, input_shape=[window_size], activation="relu"),
        tf.keras.layers.Dense(1),
    ]
)
model.compile(loss="mse", optimizer="sgd")
model.fit(train, epochs=2, verbose=0)
