import numpy as np
import pandas as pd
import tensorflow as tf
from tensorflow import keras

n = 600
df = pd.DataFrame(
    {
        "T (degC)": np.sin(np.arange(n) / 24) * 10,
        "p (mbar)": 990 + np.random.randn(n),
        "rh (%)": np.random.rand(n) * 100,
        "wv (m/s)": np.random.rand(n),
    },
    index=pd.date_range("2020", periods=n, freq="h"),
)
df["hour_sin"] = np.sin(2 * np.pi * df.index.hour / 24)

train_df, val_df = df[:400], df[400:]
mean, std = train_df.mean(), train_df.std()
train_df = (train_df - mean) / std
val_df = (val_df - mean) / std

past, step = 48, 2


def make_ds(frame):
    x = frame.values[:-past]
    y = frame["T (degC)"].values[past:]
    return keras.utils.timeseries_dataset_from_array(
        x, y, sequence_length=past // step, sampling_rate=step, batch_size=32
    )


train_ds, val_ds = make_ds(train_df), make_ds(val_df)

inputs = keras.layers.Input(shape=(past // step, df.shape[1]))
x = keras.layers.Flatten()(inputs)
x = keras.layers.Dense(16, activation="relu")(x)
outputs = keras.layers.Dense(1)(x)
model = keras.Model(inputs, outputs)
model.compile(optimizer=keras.optimizers.Adam(0.001), loss="mse")
model.fit(train_ds, epochs=1, validation_data=val_ds, verbose=0)
