import numpy as np
import tensorflow as tf


def get_logs(n=240):
    rng = np.random.default_rng(3)
    severity = rng.choice(3, n, p=[0.6, 0.3, 0.1])
    feats = rng.normal(size=(n, 4)) + severity[:, None]
    return feats.astype("float32"), severity


def make_ds(feats, severity):
    return tf.data.Dataset.from_tensor_slices((feats, severity)).shuffle(len(severity)).batch(24)


feats, severity = get_logs()
inputs = tf.keras.Input((4,))
x = tf.keras.layers.Dense(12, activation="relu")(inputs)
outputs = tf.keras.layers.Dense(3, activation="softmax")(x)
model = tf.keras.Model(inputs, outputs)
model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])

severity_weight = {0: 0.5, 1: 1.0, 2: 3.0}
model.fit(make_ds(feats, severity), epochs=2, class_weight=severity_weight, verbose=2)
