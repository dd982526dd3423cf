import numpy as np
import tensorflow as tf

CLASSES = 3


def partly_labelled(n=60, size=12):
    rng = np.random.default_rng(2)
    label = rng.integers(0, CLASSES, (n, size))
    x = np.eye(CLASSES)[label] + rng.normal(0, 0.3, (n, size, CLASSES))
    label[rng.random((n, size)) < 0.3] = -1             # not annotated
    return x.astype("float32"), label


x, label = partly_labelled()
inp = tf.keras.Input((12, CLASSES))
h = tf.keras.layers.Dense(10, activation="relu")(inp)
model = tf.keras.Model(inp, tf.keras.layers.Dense(CLASSES)(h))
model.compile(
    optimizer="adam",
    loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True, ignore_class=-1),
)
model.fit(x, label, epochs=2, batch_size=10, verbose=2)
