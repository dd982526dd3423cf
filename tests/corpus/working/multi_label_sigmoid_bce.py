import numpy as np
import tensorflow as tf
from sklearn.preprocessing import MultiLabelBinarizer

TAGS = ["sea", "sun", "snow", "city"]


def photos(n=200):
    rng = np.random.default_rng(3)
    chosen = [set(rng.choice(TAGS, rng.integers(0, 4), replace=False)) for _ in range(n)]
    x = np.array([[(t in c) + rng.normal(0, 0.3) for t in TAGS] for c in chosen], dtype="float32")
    return x, chosen


x, chosen = photos()
y = MultiLabelBinarizer(classes=TAGS).fit_transform(chosen)     # int rows, some of them all zero

inp = tf.keras.Input((4,))
h = tf.keras.layers.Dense(16, activation="relu")(inp)
model = tf.keras.Model(inp, tf.keras.layers.Dense(4, activation="sigmoid")(h))
model.compile("adam", "binary_crossentropy", metrics=[tf.keras.metrics.AUC(multi_label=True, name="auc")])
model.fit(x, y, epochs=2, batch_size=20, verbose=2)
