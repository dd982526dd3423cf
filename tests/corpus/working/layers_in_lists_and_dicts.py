import numpy as np
import tensorflow as tf
from tensorflow.keras import layers


class MultiTask(tf.keras.Model):
    def __init__(self, tasks, depth=2):
        super().__init__()
        self.trunk = [layers.Dense(16, activation="relu") for _ in range(depth)]
        self.norms = tuple(layers.LayerNormalization() for _ in range(depth))
        self.heads = {name: layers.Dense(units) for name, units in tasks.items()}

    def call(self, x):
        for dense, norm in zip(self.trunk, self.norms):
            x = norm(dense(x))
        return {name: head(x) for name, head in self.heads.items()}


rng = np.random.default_rng(0)
x = rng.normal(size=(160, 5)).astype("float32")
targets = {"level": x[:, :1] + x[:, 1:2], "trend": x[:, 2:4] * 0.5}

model = MultiTask({"level": 1, "trend": 2})
model.compile(optimizer="adam", loss={"level": "mse", "trend": "mse"})
model.fit(x, targets, epochs=2, batch_size=20, verbose=2)
print(len(model.trainable_weights))
