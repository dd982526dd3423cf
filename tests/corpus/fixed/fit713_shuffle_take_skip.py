import numpy as np
import tensorflow as tf


def coin_flips(n=300):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(n, 20)).astype("float32")
    y = (x[:, 0] + rng.normal(size=n) > 0).astype("float32")
    return tf.data.Dataset.from_tensor_slices((x, y))


N = 300
full = coin_flips(N).shuffle(N, reshuffle_each_iteration=False)
val_size = int(0.2 * N)
val_ds = full.take(val_size).batch(30)
train_ds = full.skip(val_size).batch(30)

model = tf.keras.Sequential([
    tf.keras.layers.Input((20,)),
    tf.keras.layers.Dense(64, activation="relu"),
    tf.keras.layers.Dense(1, activation="sigmoid"),
])
model.compile(optimizer="adam", loss="binary_crossentropy", metrics=["accuracy"])
model.fit(train_ds, validation_data=val_ds, epochs=3, verbose=2)
