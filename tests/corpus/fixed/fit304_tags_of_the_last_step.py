import numpy as np
import pandas as pd
from tensorflow.keras.preprocessing.sequence import pad_sequences
from tensorflow.keras.utils import to_categorical
from tensorflow.keras import Model, Input
from tensorflow.keras.layers import LSTM, Embedding, Dense, TimeDistributed, Bidirectional

words = [f"tok{i}" for i in range(80)]
tags = ["O", "B-per", "I-per", "B-loc", "I-loc"]
rows = []
for s in range(40):
    for _ in range(np.random.randint(4, 12)):
        rows.append((s, np.random.choice(words), np.random.choice(tags)))
data = pd.DataFrame(rows, columns=["sent", "word", "tag"])
word2idx = {w: i + 1 for i, w in enumerate(sorted(data.word.unique()))}
tag2idx = {t: i for i, t in enumerate(tags)}
sents = data.groupby("sent").apply(lambda g: list(zip(g.word, g.tag)))
max_len = 12
X = pad_sequences([[word2idx[w] for w, _ in s] for s in sents], maxlen=max_len, padding="post")
y = pad_sequences(
    [[tag2idx[t] for _, t in s] for s in sents], maxlen=max_len, padding="post", value=tag2idx["O"]
)
y = to_categorical(y, num_classes=len(tags))

inp = Input(shape=(max_len,))
m = Embedding(len(word2idx) + 1, 16)(inp)
m = Bidirectional(LSTM(10, return_sequences=True))(m)
out = TimeDistributed(Dense(len(tags), activation="softmax"))(m)
model = Model(inp, out)
model.compile("adam", "categorical_crossentropy", metrics=["accuracy"])
model.fit(X, y, batch_size=8, epochs=1, verbose=0)
