import keras
import numpy as np
import tensorflow as tf


class WarmupModel(keras.Model):
    """Uses label smoothing once the accuracy is high enough."""

    def train_step(self, data):
        x, y = data
        used = []
        with tf.GradientTape() as tape:
            logits = self(x, training=True)
            acc = tf.reduce_mean(tf.cast(tf.equal(tf.argmax(logits, -1), tf.cast(y, tf.int64)), tf.float32))
            target = tf.one_hot(tf.cast(y, tf.int32), 3)

            def smooth():
                used.append(0.9 * target + 0.1 / 3.0)  # <- FIT404
                return 0

            def plain():
                used.append(tf.identity(target))
                return 0

            tf.cond(acc > 0.8, smooth, plain)
            loss = tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits(used[0], logits))  # <~ FIT404
        grads = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.trainable_variables))
        self._loss_tracker.update_state(loss)
        return {"loss": self._loss_tracker.result()}


inputs = keras.Input((5,))
model = WarmupModel(inputs, keras.layers.Dense(3)(keras.layers.Dense(16, activation="relu")(inputs)))
model.compile(optimizer="adam", loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True))

rng = np.random.default_rng(4)
x = rng.normal(size=(150, 5)).astype("float32")
y = x[:, :3].argmax(axis=1)
model.fit(x, y, epochs=1, batch_size=30, verbose=2)
