import numpy as np
import keras
from keras import layers

WORDS = "a b c d e f g h i j k l m n o p".split()
INDEX = {w: i + 1 for i, w in enumerate(WORDS)}          # 1..16; 0 pads


def sentences(n=180, longest=9):
    rng = np.random.default_rng(1)
    ids, mood = [], []
    for i in range(n):
        half = WORDS[8:] if i % 2 else WORDS[:8]
        ids.append([INDEX[w] for w in rng.choice(half, rng.integers(3, longest))])
        mood.append(i % 2)
    return keras.utils.pad_sequences(ids, maxlen=longest, padding="post"), np.array(mood)


x, mood = sentences()
model = keras.Sequential([
    layers.Embedding(len(INDEX) + 1, 6, mask_zero=True),
    layers.LSTM(8),
    layers.Dense(1, activation="sigmoid"),
])
model.compile("adam", "binary_crossentropy", metrics=["accuracy"])
model.fit(x, mood, epochs=2, batch_size=18, verbose=2)
