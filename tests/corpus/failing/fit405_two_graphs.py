import tensorflow as tf
import numpy as np

features = np.random.default_rng(1).normal(size=(50, 3)).astype("float32")
targets = features @ np.array([[1.0], [2.0], [-1.0]], dtype="float32")

model_graph = tf.Graph()
loss_graph = tf.Graph()  # <~ FIT405

with model_graph.as_default():
    x = tf.constant(features)
    w = tf.Variable(tf.zeros((3, 1)), name="w")
    prediction = tf.matmul(x, w)

with loss_graph.as_default():  # <- FIT405
    y = tf.constant(targets)
    loss = tf.reduce_mean(tf.square(prediction - y))
    grad = tf.gradients(loss, w)[0]
    update = w.assign_sub(0.1 * grad)
    init = tf.compat.v1.global_variables_initializer()

with tf.compat.v1.Session(graph=loss_graph) as sess:
    sess.run(init)
    for _ in range(20):
        sess.run(update)
    print(sess.run(loss))
