import numpy as np
import pandas as pd
from sklearn.preprocessing import StandardScaler
from tensorflow import keras
from tensorflow.keras.layers import Dense, Dropout


def fraud_table(n=300):
    rng = np.random.default_rng(55)
    df = pd.DataFrame({"amount": rng.gamma(2, 50, n), "hour": rng.integers(0, 24, n), "tries": rng.poisson(1, n)})
    df["fraud"] = ((df["amount"] > 110) & (df["tries"] > 0)).astype("float32")
    return df


df = fraud_table()
y = df.pop("fraud").to_numpy()
x = StandardScaler().fit_transform(df)

inputs = keras.Input(shape=(3,))
h = Dense(16, activation="relu")(inputs)
h = Dropout(0.1)(h)
outputs = Dense(1)(h)
model = keras.Model(inputs, outputs)
model.compile("adam", keras.losses.BinaryCrossentropy(from_logits=True))
model.fit(x, y, epochs=2, batch_size=30, verbose=2)
