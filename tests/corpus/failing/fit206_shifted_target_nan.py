import numpy as np
import pandas as pd
import tensorflow as tf


def price_history(days=260):
    rng = np.random.default_rng(0)
    close = 100 * np.exp(np.cumsum(rng.normal(0, 0.01, days)))
    volume = rng.gamma(3, 1.0, days)
    return pd.DataFrame({"close": close, "volume": volume},
                        index=pd.bdate_range("2020-01-01", periods=days))


def make_features(px):
    feats = pd.DataFrame(index=px.index)
    ret = px["close"].pct_change().fillna(0.0) * 100
    feats["ret"] = ret
    feats["ret_mean5"] = ret.rolling(5, min_periods=1).mean()
    feats["vol_z"] = (px["volume"] - px["volume"].mean()) / px["volume"].std()
    target = ret.shift(-1)  # <- FIT206
    return feats, target


feats, target = make_features(price_history())
model = tf.keras.Sequential([
    tf.keras.layers.Input((feats.shape[1],)),
    tf.keras.layers.Dense(16, activation="relu"),
    tf.keras.layers.Dense(1),
])
model.compile(optimizer="adam", loss="mse")
model.fit(feats.to_numpy(), target.to_numpy(), epochs=2, batch_size=26, verbose=2)  # <~ FIT206
