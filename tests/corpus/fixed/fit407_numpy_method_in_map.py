import tensorflow as tf
import numpy as np

VOCAB = {"good": 1, "bad": 2, "film": 3, "plot": 4, "actor": 5, "great": 6, "dull": 7}
rng = np.random.default_rng(0)
words = list(VOCAB)
texts, labels = [], []
for _ in range(120):
    picked = rng.choice(words, 6)
    texts.append(" ".join(picked))
    labels.append(float(sum(w in ("good", "great") for w in picked) > sum(w in ("bad", "dull") for w in picked)))

table = tf.lookup.StaticHashTable(
    tf.lookup.KeyValueTensorInitializer(list(VOCAB.keys()), list(VOCAB.values()), value_dtype=tf.int64), 0)


def encode(text, label):
    ids = table.lookup(tf.strings.split(text))
    return tf.ensure_shape(ids, (6,)), label


ds = tf.data.Dataset.from_tensor_slices((texts, np.array(labels, "float32")))
ds = ds.map(encode).batch(20)

model = tf.keras.Sequential([
    tf.keras.Input((6,), dtype="int64"),
    tf.keras.layers.Embedding(8, 4),
    tf.keras.layers.GlobalAveragePooling1D(),
    tf.keras.layers.Dense(1, activation="sigmoid"),
])
model.compile("adam", "binary_crossentropy", metrics=["accuracy"])
model.fit(ds, epochs=2, verbose=2)
