import numpy as np
import keras
from keras import layers

N_EVENTS = 40      # event codes 0..39
MAX_EVENTS = 12


def sessions(n=180):
    rng = np.random.default_rng(6)
    seqs, bought = [], []
    for _ in range(n):
        buy = int(rng.random() < 0.5)
        length = int(rng.integers(3, MAX_EVENTS))
        seqs.append(rng.integers(0, 20 + 20 * buy, length).tolist())
        bought.append(buy)
    return seqs, np.array(bought, dtype="float32")


def to_matrix(seqs):
    return keras.utils.pad_sequences(seqs, maxlen=MAX_EVENTS, padding="post", value=-1)  # <- FIT115


def build_model():
    events = keras.Input((MAX_EVENTS,), dtype="int32", name="events")
    h = layers.Embedding(N_EVENTS, 8)(events)  # <~ FIT115
    h = layers.GlobalAveragePooling1D()(h)
    h = layers.Dense(8, activation="relu")(h)
    return keras.Model(events, layers.Dense(1, activation="sigmoid")(h))


seqs, bought = sessions()
model = build_model()
model.compile("adam", "binary_crossentropy", metrics=["accuracy"])
model.fit(to_matrix(seqs), bought, epochs=2, batch_size=18, verbose=2)
