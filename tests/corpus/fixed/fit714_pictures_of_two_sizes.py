import tensorflow as tf, numpy as np
def parse(i):
    h = tf.cond(i > 3, lambda: 20, lambda: 24)
    return tf.image.resize(tf.zeros((h, 16, 3)), (20, 16)), i
ds = tf.data.Dataset.range(8).map(parse).shuffle(8, seed=1).batch(4)
for x, y in ds.take(2):
    print(x.shape)
