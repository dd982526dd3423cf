import numpy as np
import tensorflow as tf

series = np.sin(np.arange(200) / 10).astype("float32").reshape(-1, 1)
ds = tf.keras.utils.timeseries_dataset_from_array(series[:-10], series[10:], sequence_length=10, batch_size=16)
ds = ds.cache()
model = tf.keras.models.Sequential([
    tf.keras.layers.LSTM(8, input_shape=(10, 1)),
    tf.keras.layers.Dense(1),
])
model.compile(loss="mse", optimizer="adam")
model.fit(ds, epochs=1)
