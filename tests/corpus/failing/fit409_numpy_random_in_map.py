import numpy as np
import tensorflow as tf

rng = np.random.default_rng(0)
signals = rng.normal(size=(160, 32, 1)).astype("float32")
classes = rng.integers(0, 2, 160)
signals[classes == 1, 8:16] += 1.0


def augment(x, y):
    gain = np.random.uniform(0.8, 1.2)  # <- FIT409
    shift = np.random.randint(-3, 4)  # <~ FIT409
    return tf.roll(x * gain, shift, axis=0), y


train_ds = (
    tf.data.Dataset.from_tensor_slices((signals, classes))
    .shuffle(160)
    .map(augment, num_parallel_calls=tf.data.AUTOTUNE)
    .batch(16)
    .prefetch(tf.data.AUTOTUNE)
)

model = tf.keras.Sequential([
    tf.keras.layers.Input((32, 1)),
    tf.keras.layers.Conv1D(8, 5, activation="relu"),
    tf.keras.layers.GlobalMaxPooling1D(),
    tf.keras.layers.Dense(2, activation="softmax"),
])
model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
model.fit(train_ds, epochs=2, verbose=2)
