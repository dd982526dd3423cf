import numpy as np
import tensorflow as tf
from sklearn.preprocessing import MultiLabelBinarizer

GENRES = ["action", "comedy", "drama", "horror", "romance"]


def movies(n=220):
    rng = np.random.default_rng(7)
    tags, feats = [], []
    for _ in range(n):
        k = rng.integers(1, 4)
        chosen = list(rng.choice(GENRES, k, replace=False))
        tags.append(chosen)
        feats.append([float(g in chosen) + rng.normal(0, 0.3) for g in GENRES] + list(rng.normal(size=3)))
    return np.array(feats, dtype="float32"), tags


x, tags = movies()
mlb = MultiLabelBinarizer(classes=GENRES)
y = mlb.fit_transform(tags).astype("float32")

model = tf.keras.Sequential([
    tf.keras.layers.Input((x.shape[1],)),
    tf.keras.layers.Dense(24, activation="relu"),
    tf.keras.layers.Dense(len(GENRES), activation="softmax"),  # <~ FIT207
])
model.compile(optimizer="adam", loss="categorical_crossentropy")  # <- FIT207
model.fit(x, y, epochs=3, batch_size=20, verbose=2)
