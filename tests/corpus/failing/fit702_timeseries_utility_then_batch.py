import numpy as np
import tensorflow as tf

WINDOW, BATCH = 12, 16

series = np.sin(np.arange(260) / 7.0).astype("float32")[:, None]
ds = tf.keras.utils.timeseries_dataset_from_array(
    series[:-1], series[WINDOW:], sequence_length=WINDOW, batch_size=BATCH, shuffle=True, seed=1)  # <~ FIT702
ds = ds.batch(BATCH).prefetch(2)  # <- FIT702

model = tf.keras.models.Sequential([
    tf.keras.layers.LSTM(12),
    tf.keras.layers.Dense(1),
])
model.compile(loss="mse", optimizer="adam")
model.fit(ds, epochs=2, verbose=2)
