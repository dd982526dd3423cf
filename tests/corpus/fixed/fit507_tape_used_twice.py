import keras
import numpy as np
import tensorflow as tf


class ActorCritic(keras.Model):
    def __init__(self):
        super().__init__()
        self.body = keras.layers.Dense(16, activation="tanh")
        self.pi = keras.layers.Dense(2)
        self.v = keras.layers.Dense(1)

    def call(self, s):
        h = self.body(s)
        return self.pi(h), self.v(h)


def update(model, actor_opt, critic_opt, states, actions, returns):
    with tf.GradientTape(persistent=True) as tape:
        logits, values = model(states)
        advantage = returns - values
        logp = -tf.nn.sparse_softmax_cross_entropy_with_logits(labels=actions, logits=logits)
        actor_loss = -tf.reduce_mean(logp[:, None] * tf.stop_gradient(advantage))
        critic_loss = tf.reduce_mean(tf.square(advantage))
    actor_vars = model.body.trainable_variables + model.pi.trainable_variables
    critic_vars = model.v.trainable_variables
    actor_opt.apply_gradients(zip(tape.gradient(actor_loss, actor_vars), actor_vars))
    critic_opt.apply_gradients(zip(tape.gradient(critic_loss, critic_vars), critic_vars))
    del tape
    return float(actor_loss), float(critic_loss)


def main():
    rng = np.random.default_rng(0)
    model = ActorCritic()
    a_opt, c_opt = keras.optimizers.Adam(1e-3), keras.optimizers.Adam(1e-2)
    for _ in range(3):
        s = tf.constant(rng.normal(size=(20, 4)), tf.float32)
        a = tf.constant(rng.integers(0, 2, 20))
        r = tf.reduce_sum(s, axis=1, keepdims=True)
        print(update(model, a_opt, c_opt, s, a, r))


main()
