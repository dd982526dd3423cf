import numpy as np
import keras
from keras import layers


class SteeringTrainer:
    """Steering angle in -1..1: tanh reaches every target."""

    def __init__(self, n=200):
        rng = np.random.default_rng(9)
        self.curve = rng.normal(size=(n, 12)).astype("float32")
        self.angle = np.tanh(self.curve[:, :3].mean(axis=1))

    def build(self):
        model = keras.Sequential([
            keras.Input((12,)),
            layers.Dense(16, activation="elu"),
            layers.Dense(1, activation="tanh"),
        ])
        model.compile(optimizer="adam", loss="mae")
        return model

    def run(self):
        return self.build().fit(self.curve, self.angle, epochs=2, batch_size=20, verbose=2)


SteeringTrainer().run()
