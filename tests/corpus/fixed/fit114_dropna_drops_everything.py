import numpy as np
import pandas as pd
import keras
from keras.layers import Dense


class Pipeline:
    """Sensor table -> cleaned arrays -> small regression network."""

    sensors = ["s1", "s2", "s3", "s4"]

    def load(self, n=200):
        rng = np.random.default_rng(8)
        df = pd.DataFrame(rng.normal(size=(n, 4)), columns=self.sensors)
        df["comment"] = np.nan              # nobody ever filled this in
        df["output"] = df["s1"] - 0.5 * df["s3"]
        return df

    def clean(self, df):
        df = df.dropna(subset=self.sensors + ["output"])
        return df.reset_index(drop=True)

    def arrays(self):
        df = self.clean(self.load())
        return df[self.sensors].to_numpy("float32"), df["output"].to_numpy("float32")

    def train(self):
        x, y = self.arrays()
        model = keras.Sequential([keras.Input((4,)), Dense(8, activation="tanh"), Dense(1)])
        model.compile(optimizer="sgd", loss="mse")
        return model.fit(x, y, epochs=2, batch_size=20, verbose=2)


history = Pipeline().train()
print("epochs recorded:", len(history.epoch))
