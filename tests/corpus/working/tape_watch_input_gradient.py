import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

rng = np.random.default_rng(0)
x = rng.normal(size=(150, 5)).astype("float32")
y = (x[:, 2] > 0).astype("float32")
model = tf.keras.Sequential([layers.Input((5,)), layers.Dense(16, activation="relu"), layers.Dense(1, activation="sigmoid")])
model.compile("adam", "binary_crossentropy", metrics=["accuracy"])
model.fit(x, y, epochs=3, verbose=0)


def saliency(batch):
    batch = tf.convert_to_tensor(batch)
    with tf.GradientTape() as tape:
        tape.watch(batch)
        score = model(batch, training=False)
    return tf.reduce_mean(tf.abs(tape.gradient(score, batch)), axis=0)


print("importance", saliency(x).numpy().round(3))
