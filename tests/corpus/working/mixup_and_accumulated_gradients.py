import keras
import tensorflow as tf
import numpy as np

class Mixup(keras.Model):
    def train_step(self, data):
        x, y, w = keras.utils.unpack_x_y_sample_weight(data)
        perm = tf.random.shuffle(tf.range(tf.shape(x)[0]))
        lam = tf.random.uniform(())
        x = lam * x + (1 - lam) * tf.gather(x, perm)
        y = lam * y + (1 - lam) * tf.gather(y, perm)
        with tf.GradientTape() as tape:
            pred = self(x, training=True)
            loss = self.compute_loss(x, y, pred, w)
        self.optimizer.apply(tape.gradient(loss, self.trainable_variables), self.trainable_variables)
        self._loss_tracker.update_state(loss)
        return self.compute_metrics(x, y, pred, w)

class Accumulate(keras.Model):
    def __init__(self, *a, steps=2, **k):
        super().__init__(*a, **k)
        self.n = tf.Variable(0, trainable=False, dtype=tf.int32)
        self.steps = steps
        self.acc = [tf.Variable(tf.zeros_like(v), trainable=False) for v in self.trainable_variables]
    def train_step(self, data):
        x, y = data
        self.n.assign_add(1)
        with tf.GradientTape() as tape:
            pred = self(x, training=True)
            loss = self.compute_loss(y=y, y_pred=pred)
        for a, g in zip(self.acc, tape.gradient(loss, self.trainable_variables)):
            a.assign_add(g)
        tf.cond(tf.equal(self.n % self.steps, 0), self.apply_acc, lambda: None)
        for m in self.metrics:
            if m.name == 'loss':
                m.update_state(loss)
            else:
                m.update_state(y, pred)
        return {m.name: m.result() for m in self.metrics}
    def apply_acc(self):
        self.optimizer.apply_gradients(zip([a / self.steps for a in self.acc], self.trainable_variables))
        for a in self.acc:
            a.assign(tf.zeros_like(a))

for cls in (Mixup, Accumulate):
    i = keras.Input((4,))
    m = cls(i, keras.layers.Dense(1)(keras.layers.Dense(8, activation='relu')(i)))
    m.compile('sgd', 'mse', metrics=['mae'])
    m.fit(np.random.rand(32, 4).astype('float32'), np.random.rand(32, 1).astype('float32'), batch_size=8, epochs=1, verbose=0)
