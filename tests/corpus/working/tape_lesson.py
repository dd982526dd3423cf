"""A lesson on tapes: the error of a second gradient is shown, and a comprehension names its targets as an older array."""

import numpy as np
import tensorflow as tf


def f(a, b):
    return 3 * a**2 + 2 * a * b


z = np.linspace(-4, 4, 5)
print(z**2 / 2)

w1, w2 = tf.Variable(5.0), tf.Variable(3.0)
with tf.GradientTape() as tape:
    z = f(w1, w2)

dz_dw1 = tape.gradient(z, w1)
try:
    dz_dw2 = tape.gradient(z, w2)
except RuntimeError as error:
    print("as expected:", error)

with tf.GradientTape(persistent=True) as tape:
    z1 = f(w1, w2 + 2.0)
    z2 = f(w1, w2 + 5.0)

total = tf.reduce_sum(tf.stack([tape.gradient(z, [w1, w2]) for z in (z1, z2)]), axis=0)
del tape
w1.assign_sub(0.01 * total[0])
