import numpy as np
import pandas as pd
import tensorflow as tf

df = pd.DataFrame({"t": np.arange(300), "load": np.random.rand(300) * 10})
df["load_ma24"] = df["load"].rolling(24).mean()  # <- FIT110
df["y"] = df["load"].shift(-1).fillna(df["load"].mean())
X = df[["load", "load_ma24"]].to_numpy(dtype="float32")  # <~ FIT110
y = df["y"].to_numpy(dtype="float32")
ds = tf.data.Dataset.from_tensor_slices((X, y)).batch(32)
model = tf.keras.Sequential([tf.keras.layers.Dense(8, activation="relu"), tf.keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
model.fit(ds, epochs=2, verbose=0)
