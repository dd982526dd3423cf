import tensorflow as tf

@tf.function
def clip_or_scale(g, limit):
    norm = tf.norm(g)
    if norm > limit:  # <~ FIT404
        factor = limit / norm  # <~ FIT404
    else:
        factor = 1  # <- FIT404
    return g * tf.cast(factor, tf.float32)

print(clip_or_scale(tf.constant([3.0, 4.0]), 1.0))
