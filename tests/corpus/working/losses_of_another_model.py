"""A regularized model that Keras trains, and loops over plain models: a saliency map, and a distilled student."""
import numpy as np
import tensorflow as tf

teacher = tf.keras.Sequential(
    [
        tf.keras.Input((5,)),
        tf.keras.layers.Dense(8, activation="relu", kernel_regularizer="l2"),
        tf.keras.layers.Dense(1),
    ]
)
teacher.compile("adam", "mse")
x = np.random.default_rng(0).normal(size=(64, 5)).astype("float32")
teacher.fit(x, x.sum(1, keepdims=True), epochs=2, verbose=0)


def saliency(inputs):
    with tf.GradientTape() as tape:
        tape.watch(inputs)
        score = tf.reduce_sum(teacher(inputs))
    return tape.gradient(score, inputs)


student = tf.keras.Sequential([tf.keras.Input((5,)), tf.keras.layers.Dense(4, kernel_regularizer=None), tf.keras.layers.Dense(1)])
optimizer = tf.keras.optimizers.Adam()


def distill(inputs):
    target = teacher(inputs, training=False)
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(student(inputs, training=True) - target))
    gradients = tape.gradient(loss, student.trainable_variables)
    optimizer.apply_gradients(zip(gradients, student.trainable_variables))
    return float(loss)


print(saliency(tf.constant(x)).shape, distill(x), distill(x))
