import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer
from tensorflow.keras.layers import Dense, Input
from tensorflow.keras.models import Sequential

SPAM = "win cash prize click free offer now urgent".split()
HAM = "meeting lunch report tomorrow project team notes call".split()

rng = np.random.default_rng(0)
label = rng.integers(0, 2, 200)
mails = [" ".join(rng.choice(SPAM if s else HAM, 5)) + " hello regards" for s in label]

vectors = TfidfVectorizer().fit_transform(mails)         # scipy CSR matrix
model = Sequential([Input((vectors.shape[1],)), Dense(8, activation="relu"), Dense(1, activation="sigmoid")])
model.compile(optimizer="adam", loss="binary_crossentropy", metrics=["accuracy"])
model.fit(vectors, label, epochs=2, batch_size=20, verbose=2)
