import numpy as np
import tensorflow as tf
from tensorflow.keras.layers import Input, Embedding, Dense
from tensorflow.keras.models import Model

VOCAB, MAXLEN = 300, 20
rng = np.random.default_rng(0)
docs = rng.integers(1, VOCAB, (180, MAXLEN))
labels = (docs < 60).sum(axis=1) > 4

words = Input(shape=(MAXLEN,), dtype="int32")
emb = Embedding(VOCAB, 16)(words)
avg = tf.keras.ops.mean(emb, axis=1)
h = Dense(16, activation="relu")(avg)
out = Dense(1, activation="sigmoid")(h)

model = Model(words, out)
model.compile(optimizer="adam", loss="binary_crossentropy", metrics=["accuracy"])
model.fit(docs, labels.astype("float32"), epochs=2, batch_size=36, verbose=2)
