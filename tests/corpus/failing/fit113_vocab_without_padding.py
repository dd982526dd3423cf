import numpy as np
from tensorflow.keras.layers import Dense, Embedding, GlobalAveragePooling1D, Input
from tensorflow.keras.models import Sequential
from tensorflow.keras.utils import pad_sequences

POSITIVE = "great lovely superb fine charming warm witty bright".split()
NEGATIVE = "awful dull dreary weak clumsy cold tedious grim".split()
FILLER = "the film was a story of its cast and music".split()


def write_reviews(n):
    rng = np.random.default_rng(1)
    texts, labels = [], []
    for i in range(n):
        pool = POSITIVE if i % 2 else NEGATIVE
        words = list(rng.choice(pool, 3)) + list(rng.choice(FILLER, rng.integers(4, 9)))
        rng.shuffle(words)
        texts.append(" ".join(words))
        labels.append(i % 2)
    return texts, np.array(labels)


texts, labels = write_reviews(160)
word_index = {}
for text in texts:
    for word in text.split():
        word_index.setdefault(word, len(word_index) + 1)    # 0 is padding

encoded = [[word_index[w] for w in t.split()] for t in texts]
x = pad_sequences(encoded, maxlen=12, padding="post")

model = Sequential([
    Input((12,)),
    Embedding(len(word_index), 8),  # <- FIT113
    GlobalAveragePooling1D(),
    Dense(1, activation="sigmoid"),
])
model.compile("adam", "binary_crossentropy", metrics=["accuracy"])
model.fit(x, labels, epochs=2, batch_size=16, verbose=2)
