import io

import numpy as np
import pandas as pd
from tensorflow import keras

rng = np.random.default_rng(4)
csv = "station,temp,wind,rain\n" + "\n".join(
    f"{'north' if i % 2 else 'south'},{rng.normal():.3f},{rng.normal():.3f},{rng.random():.3f}" for i in range(240))


def load_station(text, name):
    df = pd.read_csv(io.StringIO(text))
    df = df[df["station"] == name.lower()]
    return df[["temp", "wind"]].to_numpy(), df["rain"].to_numpy()


X, y = load_station(csv, "North")

model = keras.Sequential([
    keras.layers.Input((2,)),
    keras.layers.Dense(8, activation="relu"),
    keras.layers.Dense(1),
])
model.compile(optimizer="adam", loss="mae")
model.fit(X, y, epochs=2, batch_size=24, verbose=2)
print("done,", model.count_params(), "parameters")
