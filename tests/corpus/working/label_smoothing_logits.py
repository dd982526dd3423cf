import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

NUM = 6


def load(n=200):
    rng = np.random.default_rng(1)
    k = rng.integers(0, NUM, n)
    x = rng.normal(0, 0.4, (n, 10)).astype("float32")
    x[np.arange(n), k] += 1.5
    return x, tf.keras.utils.to_categorical(k, NUM)


x, y = load()
inp = layers.Input((10,))
logits = layers.Dense(NUM)(layers.Dense(32, activation="gelu")(inp))
model = tf.keras.Model(inp, logits)
model.compile(
    optimizer=tf.keras.optimizers.AdamW(1e-3),
    loss=tf.keras.losses.CategoricalCrossentropy(from_logits=True, label_smoothing=0.1),
    metrics=["accuracy"],
)
model.fit(x, y, epochs=2, batch_size=20, validation_split=0.1, verbose=2)
