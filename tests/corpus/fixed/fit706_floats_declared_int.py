import numpy as np
import tensorflow as tf


def sensor_rows():
    rng = np.random.default_rng(4)
    for _ in range(200):
        row = rng.random(5)
        yield row, float(row[0] + row[1] > 1.0)


ds = tf.data.Dataset.from_generator(
    sensor_rows,
    output_signature=(
        tf.TensorSpec(shape=(5,), dtype=tf.float32),
        tf.TensorSpec(shape=(), dtype=tf.float32),
    ),
).batch(20)

model = tf.keras.Sequential([
    tf.keras.layers.Input((5,)),
    tf.keras.layers.Dense(16, activation="relu"),
    tf.keras.layers.Dense(1, activation="sigmoid"),
])
model.compile(optimizer="adam", loss="binary_crossentropy", metrics=["accuracy"])
model.fit(ds, epochs=2, verbose=2)
