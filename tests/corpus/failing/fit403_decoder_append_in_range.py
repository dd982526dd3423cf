import numpy as np
import tensorflow as tf


class Seq2Seq:
    """Small decoder that feeds its own output back."""

    def __init__(self, units, steps):
        self.steps = steps
        self.start = tf.keras.layers.Dense(units, activation="tanh")
        self.cell = tf.keras.layers.GRUCell(units)
        self.proj = tf.keras.layers.Dense(1)
        self.opt = tf.keras.optimizers.Adam(1e-2)
        self.start.build((None, 3))
        self.cell.build((None, 1))
        self.proj.build((None, units))
        self.variables = self.start.trainable_variables + self.cell.trainable_variables + self.proj.trainable_variables

    @tf.function
    def train_step(self, context, target):
        with tf.GradientTape() as tape:
            state = self.start(context)
            token = tf.zeros((tf.shape(context)[0], 1))
            outputs = []
            for _ in tf.range(self.steps):  # <- FIT403
                h, state = self.cell(token, state)
                token = self.proj(h)
                outputs.append(token)  # <~ FIT403
            loss = tf.reduce_mean(tf.square(tf.concat(outputs, axis=1) - target))
        grads = tape.gradient(loss, self.variables)
        self.opt.apply_gradients(zip(grads, self.variables))
        return loss


rng = np.random.default_rng(2)
ctx = rng.normal(size=(96, 3)).astype("float32")
curve = (ctx[:, :1] + ctx[:, 1:2] * np.arange(5) / 5.0).astype("float32")

model = Seq2Seq(12, 5)
for i in range(0, 96, 24):
    print(float(model.train_step(tf.constant(ctx[i:i + 24]), tf.constant(curve[i:i + 24]))))
