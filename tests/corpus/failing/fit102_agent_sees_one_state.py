"""An agent of one's own: the policy is called on one state, which has no batch axis."""

import keras
import numpy as np
import tensorflow as tf
from keras import layers

rng = np.random.default_rng(8)
seen = keras.Input((4,))
hidden = layers.Dense(8, activation="relu")(seen)
policy = keras.Model(seen, [layers.Dense(2, activation="softmax")(hidden), layers.Dense(1)(hidden)])
optimizer = keras.optimizers.Adam(0.01)

for episode in range(2):
    state = tf.convert_to_tensor(rng.random(4).astype("float32"))
    with tf.GradientTape() as tape:
        chances, value = policy(state)  # <- FIT102
        loss = tf.square(value[0, 0] - 1.0) - tf.math.log(chances[0, 0])
    grads = tape.gradient(loss, policy.trainable_variables)
    optimizer.apply_gradients(zip(grads, policy.trainable_variables))
    print(episode, float(loss))
