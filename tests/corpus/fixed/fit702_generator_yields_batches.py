import numpy as np
import tensorflow as tf

BATCH = 16
STEPS, CHANNELS = 24, 2


def accelerometer_batches():
    rng = np.random.default_rng(7)
    for _ in range(10):
        y = rng.integers(0, 2, BATCH).astype("float32")
        x = rng.normal(size=(BATCH, STEPS, CHANNELS)).astype("float32") + y[:, None, None]
        yield x, y


def make_dataset():
    ds = tf.data.Dataset.from_generator(
        accelerometer_batches,
        output_signature=(
            tf.TensorSpec((None, STEPS, CHANNELS), tf.float32),
            tf.TensorSpec((None,), tf.float32),
        ),
    )
    return ds.prefetch(1)


model = tf.keras.Sequential([
    tf.keras.layers.GRU(8),
    tf.keras.layers.Dense(1, activation="sigmoid"),
])
model.compile(optimizer="adam", loss="binary_crossentropy", metrics=["accuracy"])
model.fit(make_dataset(), epochs=2, verbose=2)
