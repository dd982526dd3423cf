import numpy as np
import tensorflow as tf
from dataclasses import dataclass


@dataclass
class Config:
    batch_size: int = 32
    n_features: int = 12
    hidden: int = 24
    epochs: int = 2


class Trainer:
    def __init__(self, cfg):
        self.cfg = cfg
        self.model = self._build()

    def _build(self):
        cfg = self.cfg
        inp = tf.keras.layers.Input(shape=(cfg.batch_size, cfg.n_features))  # <- FIT103
        h = tf.keras.layers.Dense(cfg.hidden, activation="tanh")(inp)
        out = tf.keras.layers.Dense(1)(h)
        model = tf.keras.Model(inp, out)
        model.compile(optimizer="rmsprop", loss="mse")
        return model

    def run(self, x, y):
        return self.model.fit(x, y, batch_size=self.cfg.batch_size, epochs=self.cfg.epochs, verbose=2)


def load(n, d):
    rng = np.random.default_rng(11)
    x = rng.normal(size=(n, d)).astype("float32")
    w = rng.normal(size=d).astype("float32")
    return x, x @ w / np.sqrt(d)


cfg = Config()
x, y = load(256, cfg.n_features)
hist = Trainer(cfg).run(x, y)
print("final loss", hist.history["loss"][-1])
