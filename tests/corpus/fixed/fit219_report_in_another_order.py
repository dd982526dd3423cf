import numpy as np
import tensorflow as tf
from sklearn.metrics import classification_report

SIZE = 32


def pipeline(signals, states, training=True):
    data = tf.data.Dataset.from_tensor_slices((signals, states))
    if training:
        data = data.shuffle(len(signals))
    return data.batch(SIZE).prefetch(2)


rng = np.random.default_rng(8)
states = rng.integers(0, 3, 480)
signals = (np.eye(3)[states] @ rng.normal(0, 2, (3, 20)) + rng.normal(0, 0.5, (480, 20))).astype("float32")

train = pipeline(signals[:360], states[:360])
held_out = pipeline(signals[360:], states[360:], training=False)

model = tf.keras.Sequential(
    [tf.keras.Input((20,)), tf.keras.layers.Dense(16, activation="relu"), tf.keras.layers.Dense(3)]
)
model.compile("adam", tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=["accuracy"])
model.fit(train, epochs=4, verbose=0)

expected = []
for _signals, known in held_out:
    expected.extend(known.numpy())
predicted = np.argmax(model.predict(held_out, verbose=0), axis=-1)
print(classification_report(expected, predicted))
