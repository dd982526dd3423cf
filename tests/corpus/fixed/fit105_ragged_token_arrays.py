import numpy as np
import keras
from keras import layers

VOCAB = 500
MAXLEN = 20


def tokenize_reviews(n=150, seed=4):
    """Each review is a list of token ids, of its own length."""
    rng = np.random.default_rng(seed)
    reviews, stars = [], []
    for _ in range(n):
        good = int(rng.random() < 0.5)
        length = rng.integers(5, MAXLEN + 1)
        low, high = (1, VOCAB // 2) if good else (VOCAB // 2, VOCAB)
        reviews.append(rng.integers(low, high, length).tolist())
        stars.append(good)
    return reviews, np.array(stars)


reviews, stars = tokenize_reviews()
x = keras.utils.pad_sequences(reviews, maxlen=MAXLEN, padding="post")

inputs = keras.Input(shape=(MAXLEN,), dtype="int32")
h = layers.Embedding(VOCAB, 16, mask_zero=True)(inputs)
h = layers.GlobalAveragePooling1D()(h)
h = layers.Dense(16, activation="relu")(h)
outputs = layers.Dense(1, activation="sigmoid")(h)

model = keras.Model(inputs, outputs)
model.compile(optimizer="adam", loss="binary_crossentropy", metrics=["accuracy"])
model.fit(x, stars, epochs=2, batch_size=25, verbose=2)
