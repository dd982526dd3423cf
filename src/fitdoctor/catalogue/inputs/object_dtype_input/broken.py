"""Train on a table with dummy columns."""

import numpy as np
import pandas as pd
import tensorflow as tf

rng = np.random.default_rng(1)
houses = pd.DataFrame({
    "area": rng.uniform(40, 200, 90) / 100,
    "heating": rng.choice(["gas", "oil", "wood"], 90),
})
price = (houses["area"] * 3 + (houses["heating"] == "oil")).to_numpy()
table = pd.get_dummies(houses, columns=["heating"])
features = table.values  # <- FIT105

model = tf.keras.Sequential([
    tf.keras.Input((4,)),
    tf.keras.layers.Dense(8, activation="relu"),
    tf.keras.layers.Dense(1),
])
model.compile(optimizer="adam", loss="mse")
model.fit(features, price, epochs=1, verbose=0)
