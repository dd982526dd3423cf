"""Compare the predictions of a dataset with its labels, which are in one order."""

import numpy as np
import tensorflow as tf

rng = np.random.default_rng(8)
depths = rng.normal(size=(96, 4)).astype("float32")
is_wet = (depths.sum(axis=1) > 0).astype("float32")

rows = tf.data.Dataset.from_tensor_slices((depths, is_wet))
train = rows.take(64).shuffle(64).batch(16)
test = rows.skip(64).batch(16)

model = tf.keras.Sequential([tf.keras.Input((4,)), tf.keras.layers.Dense(1, activation="sigmoid")])
model.compile(optimizer="adam", loss="binary_crossentropy")
model.fit(train, epochs=2, verbose=0)

labels = np.concatenate([y for x, y in test])
predicted = model.predict(test, verbose=0)[:, 0] > 0.5
print("accuracy", np.mean(labels == predicted))
