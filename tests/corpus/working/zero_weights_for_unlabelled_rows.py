"""Semi-labelled table: rows without a label get the weight zero."""
import numpy as np
import pandas as pd
import tensorflow as tf

rng = np.random.default_rng(12)
df = pd.DataFrame(rng.normal(size=(240, 5)), columns=list("vwxyz"))
df["label"] = (df["v"] > df["w"]).astype("float32")
df.loc[rng.choice(240, 60, replace=False), "label"] = np.nan

known = df["label"].notna()
y = df["label"].fillna(0.0).to_numpy("float32")
weight = known.to_numpy("float32")
x = df[list("vwxyz")].to_numpy("float32")

model = tf.keras.Sequential([
    tf.keras.layers.Dense(12, activation="relu"),
    tf.keras.layers.Dense(1, activation="sigmoid"),
])
model.compile(optimizer="adam", loss="binary_crossentropy", weighted_metrics=["accuracy"])
model.fit(x, y, sample_weight=weight, epochs=2, batch_size=24, verbose=2)
