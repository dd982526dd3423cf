import numpy as np
import tensorflow as tf


class WeightedModel(tf.keras.Model):
    def train_step(self, data):
        x, y, w = data  # <- FIT316
        with tf.GradientTape() as tape:
            y_pred = self(x, training=True)
            loss = self.compute_loss(x=x, y=y, y_pred=y_pred, sample_weight=w)
        grads = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.trainable_variables))
        for m in self.metrics:
            if m.name == 'loss':
                m.update_state(loss)
            else:
                m.update_state(y, y_pred)
        return {m.name: m.result() for m in self.metrics}


inp = tf.keras.Input((4,))
model = WeightedModel(inp, tf.keras.layers.Dense(1)(inp))
model.compile('adam', 'mse')
model.fit(np.random.rand(50, 4), np.random.rand(50, 1), epochs=1)
