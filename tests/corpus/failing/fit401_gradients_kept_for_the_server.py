"""Federated averaging: each client keeps the gradients of its compiled step on an attribute."""

import tensorflow as tf


class Client:
    def __init__(self, x, y):
        self.model = tf.keras.Sequential([tf.keras.Input((3,)), tf.keras.layers.Dense(1)])
        self.optimizer = tf.keras.optimizers.SGD(0.1)
        self.x, self.y = x, y
        self.gradients = None

    @tf.function
    def step(self):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(self.model(self.x) - self.y))
        gradients = tape.gradient(loss, self.model.trainable_variables)
        self.gradients = gradients  # <- FIT401
        self.optimizer.apply_gradients(zip(gradients, self.model.trainable_variables))
        return loss


clients = [Client(tf.random.normal((8, 3)), tf.random.normal((8, 1))) for _ in range(2)]
for client in clients:
    client.step()
mean = [tf.add_n([client.gradients[i] for client in clients]) / 2 for i in range(2)]
print(float(tf.norm(mean[0])))
