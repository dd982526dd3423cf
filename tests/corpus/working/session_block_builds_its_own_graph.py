"""A session's `with` block enters a graph: placeholders work in it, without disabling eager execution."""

import tensorflow as tf


def area(sides):
    a, b, c = sides[:, 0], sides[:, 1], sides[:, 2]
    half = (a + b + c) / 2
    return (half * (half - a) * (half - b) * (half - c)) ** 0.5


with tf.compat.v1.Session() as session:
    triangles = tf.compat.v1.placeholder(tf.float32, shape=(None, 3))
    areas = area(triangles)
    print(session.run(areas, feed_dict={triangles: [[6.0, 6.0, 6.0], [3.0, 4.0, 5.0]]}))
