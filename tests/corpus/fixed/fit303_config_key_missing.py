import tensorflow as tf
import numpy as np

CONFIG = {
    "hidden": [32, 16],
    "optimizer": "adam",
    "loss_fn": "mse",
    "epochs": 2,
    "batch_size": 32,
}


class Trainer:
    def __init__(self, cfg):
        self.cfg = cfg
        self.model = self._build()

    def _build(self):
        model = tf.keras.Sequential()
        model.add(tf.keras.Input((6,)))
        for units in self.cfg["hidden"]:
            model.add(tf.keras.layers.Dense(units, activation="relu"))
        model.add(tf.keras.layers.Dense(1))
        model.compile(optimizer=self.cfg["optimizer"], loss=self.cfg["loss_fn"])
        return model

    def run(self, x, y):
        return self.model.fit(
            x, y,
            epochs=self.cfg["epochs"],
            batch_size=self.cfg["batch_size"],
            verbose=0,
        )


if __name__ == "__main__":
    gen = np.random.default_rng(11)
    x = gen.normal(size=(256, 6)).astype("float32")
    y = (x @ gen.normal(size=6) + 0.1 * gen.normal(size=256)).astype("float32")
    hist = Trainer(CONFIG).run(x, y)
    print(hist.history["loss"])
