import numpy as np
import pandas as pd
import tensorflow as tf

rng = np.random.default_rng(71)
n = 240
patients = pd.DataFrame({
    "patient_id": rng.permutation(np.arange(50_000, 50_000 + n)),
    "bp": rng.normal(size=n),
    "bmi": rng.normal(size=n),
})
patients["risk"] = (patients["bp"] + patients["bmi"] > 0).astype("float32")


def to_dataset(df, batch_size=24):
    x = df[["bp", "bmi"]].to_numpy("float32")
    y = df["risk"].to_numpy("float32")
    ds = tf.data.Dataset.from_tensor_slices((x, y))
    return ds.shuffle(len(df)).batch(batch_size).prefetch(2)


model = tf.keras.Sequential([
    tf.keras.layers.Dense(12, activation="relu"),
    tf.keras.layers.Dense(1, activation="sigmoid"),
])
model.compile(optimizer="adam", loss="binary_crossentropy", metrics=["accuracy"])
model.fit(to_dataset(patients), epochs=2, verbose=2)
