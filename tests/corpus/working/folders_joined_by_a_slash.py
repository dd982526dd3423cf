"""Folders are joined with a slash, which divides no ids: the texts in them become ids later."""

import pathlib
import tempfile

import tensorflow as tf

root = pathlib.Path(tempfile.mkdtemp())
folder = root / "train"
for name, words in (("bad", "dull and slow"), ("good", "funny and bright")):
    (folder / name).mkdir(parents=True)
    for number in range(8):
        (folder / name / f"{number}.txt").write_text(words)

texts = tf.keras.utils.text_dataset_from_directory(folder, batch_size=4, seed=1)
vectorize = tf.keras.layers.TextVectorization(max_tokens=50, output_sequence_length=6)
vectorize.adapt(texts.map(lambda text, label: text))


def to_ids(text, label):
    return vectorize(text), label


model = tf.keras.Sequential(
    [
        tf.keras.layers.Embedding(50, 8),
        tf.keras.layers.GlobalAveragePooling1D(),
        tf.keras.layers.Dense(1, activation="sigmoid"),
    ]
)
model.compile("adam", "binary_crossentropy")
model.fit(texts.map(to_ids), epochs=1, verbose=0)
