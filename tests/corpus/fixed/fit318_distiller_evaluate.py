import keras
import numpy as np
import tensorflow as tf


def mlp(width):
    return keras.Sequential([keras.Input((6,)), keras.layers.Dense(width, activation="relu"), keras.layers.Dense(3)])


class Distiller(keras.Model):
    def __init__(self, student, teacher):
        super().__init__()
        self.student = student
        self.teacher = teacher
        self.teacher.trainable = False
        self.loss_tracker = keras.metrics.Mean(name="distill_loss")

    def train_step(self, data):
        x, y = data
        soft = tf.nn.softmax(self.teacher(x, training=False) / 2.0)
        with tf.GradientTape() as tape:
            logits = self.student(x, training=True)
            hard_loss = self.compute_loss(x=x, y=y, y_pred=logits)
            soft_loss = tf.reduce_mean(keras.losses.kl_divergence(soft, tf.nn.softmax(logits / 2.0)))
            loss = 0.5 * hard_loss + 0.5 * soft_loss
        grads = tape.gradient(loss, self.student.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.student.trainable_variables))
        self.loss_tracker.update_state(loss)
        return {"distill_loss": self.loss_tracker.result()}

    def call(self, x, training=None):
        return self.student(x, training=training)


rng = np.random.default_rng(6)
x = rng.normal(size=(240, 6)).astype("float32")
y = x[:, :3].argmax(axis=1)

ce = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
teacher = mlp(64)
teacher.compile(optimizer="adam", loss=ce)
teacher.fit(x[:200], y[:200], epochs=2, verbose=0)

distiller = Distiller(mlp(8), teacher)
distiller.compile(optimizer="adam", loss=ce)
distiller.fit(x[:200], y[:200], epochs=2, verbose=0)
print(distiller.evaluate(x[200:], y[200:], verbose=0))
