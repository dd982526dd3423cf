import tensorflow as tf

@tf.function
def clip_or_scale(g, limit):
    norm = tf.norm(g)
    if norm > limit:
        factor = limit / norm
    else:
        factor = 1.0
    return g * tf.cast(factor, tf.float32)

print(clip_or_scale(tf.constant([3.0, 4.0]), 1.0))
