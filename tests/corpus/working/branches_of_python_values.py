import tensorflow as tf
@tf.function
def step(x, training=True, scale=None):
    if training:
        rate = 0.5
    else:
        rate = 0
    if scale is None:
        k = 1
    else:
        k = scale * 1.0
    n = 0
    if x.shape[0] > 2:
        n = 1.5
    return x * rate * k + n
print(step(tf.ones((3, 2))))
print(step(tf.ones((3, 2)), False))
@tf.function
def clip(g, limit=1.0):
    n = tf.norm(g)
    count = 0
    if n > limit:
        factor = limit / n
        count += 1
    else:
        factor = 1.0
    tmp = 3
    if n > 5.0:
        tmp = n / 2.0
        g = g * tmp
    return g * factor, count
print(clip(tf.constant([3.0, 4.0])))
