import numpy as np
import keras

data = np.random.rand(200, 3).astype("float32")
ds = keras.utils.timeseries_dataset_from_array(data[:-6], data[6:, 0], sequence_length=6, batch_size=16, shuffle=True)
model = keras.Sequential([keras.Input((6, 3)), keras.layers.LSTM(4), keras.layers.Dense(1)])
model.compile("adam", "mse")
model.fit(ds, epochs=2, verbose=0)
