import numpy as np
import pandas as pd
import tensorflow as tf


def accidents(n=240):
    rng = np.random.default_rng(2)
    df = pd.DataFrame({"traffic": rng.normal(size=n), "rain": rng.random(n), "curve": rng.normal(size=n)})
    df["count"] = rng.poisson(np.exp(0.5 * df["traffic"] + 0.8 * df["rain"]))
    return df


df = accidents()
counts = df.pop("count")
inp = tf.keras.Input((3,))
rate = tf.keras.layers.Dense(1, activation="exponential")(inp)
glm = tf.keras.Model(inp, rate)
glm.compile(optimizer=tf.keras.optimizers.Adam(0.02), loss="poisson")
glm.fit(df.to_numpy(), counts.to_numpy(), epochs=3, batch_size=24, verbose=2)
