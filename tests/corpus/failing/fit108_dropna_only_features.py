import numpy as np
import pandas as pd
import keras
from keras import layers


def load_survey(n=300):
    rng = np.random.default_rng(30)
    df = pd.DataFrame(rng.normal(size=(n, 5)), columns=[f"q{i}" for i in range(1, 6)])
    df["happiness"] = df.sum(axis=1) * 0.3 + rng.normal(0, 0.1, n)
    holes = rng.choice(n, 25, replace=False)
    df.loc[holes, "q3"] = np.nan
    return df


def prepare(df):
    target = df["happiness"]
    inputs = df.drop(columns=["happiness"]).dropna()  # <- FIT108
    return inputs.to_numpy(), target.to_numpy()


class Regressor(keras.Model):
    def __init__(self):
        super().__init__()
        self.h = layers.Dense(16, activation="gelu")
        self.o = layers.Dense(1)

    def call(self, x):
        return self.o(self.h(x))


X, y = prepare(load_survey())
reg = Regressor()
reg.compile(optimizer="adam", loss="mae")
reg.fit(X, y, epochs=2, batch_size=32, verbose=2)
