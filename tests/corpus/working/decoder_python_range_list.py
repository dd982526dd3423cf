import numpy as np
import tensorflow as tf


class Rollout(tf.keras.Model):
    """Unrolls a GRU cell; the list lives within one trace."""

    def __init__(self, units, horizon):
        super().__init__()
        self.horizon = horizon
        self.cell = tf.keras.layers.GRUCell(units)
        self.init_state = tf.keras.layers.Dense(units, activation="tanh")
        self.readout = tf.keras.layers.Dense(1)

    def call(self, context):
        state = self.init_state(context)
        value = context[:, :1]
        outputs = []
        for _ in range(self.horizon):
            h, state = self.cell(value, state)
            value = self.readout(h)
            outputs.append(value)
        return tf.stack(outputs, axis=1)


rng = np.random.default_rng(2)
ctx = rng.normal(size=(96, 3)).astype("float32")
future = (ctx[:, :1] * 0.8 ** np.arange(1, 6)).astype("float32")[..., None]
model = Rollout(8, 5)
model.compile("adam", "mse")
model.fit(ctx, future, epochs=1, batch_size=24, verbose=2)
