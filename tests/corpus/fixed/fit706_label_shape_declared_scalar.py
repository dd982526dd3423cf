import numpy as np
import tensorflow as tf


def sample_stream():
    rng = np.random.default_rng(0)
    for _ in range(48):
        yield rng.normal(size=(10, 10, 1)).astype("float32"), np.array([1.0, 0.0, 0.0], dtype="float32")


sig = (
    tf.TensorSpec(shape=(10, 10, 1), dtype=tf.float32),
    tf.TensorSpec(shape=(3,), dtype=tf.float32),
)
train = tf.data.Dataset.from_generator(sample_stream, output_signature=sig).batch(8).prefetch(1)

model = tf.keras.Sequential()
model.add(tf.keras.layers.Input((10, 10, 1)))
model.add(tf.keras.layers.Flatten())
model.add(tf.keras.layers.Dense(3, activation="softmax"))
model.compile(loss="categorical_crossentropy", optimizer="adam")
model.fit(train, epochs=2)
