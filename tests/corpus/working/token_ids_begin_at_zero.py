"""The words of short notes, numbered from 0: the ids of the tokenizer are shifted, and no row is left over."""

import numpy as np
from tensorflow import keras
from tensorflow.keras.preprocessing.text import Tokenizer

notes = ["rain in the morning", "sun in the evening", "wind and rain", "sun and wind"] * 8
words = Tokenizer()
words.fit_on_texts(notes)
ids = [[number - 1 for number in note] for note in words.texts_to_sequences(notes)]
rows = keras.utils.pad_sequences(ids, maxlen=4)
wet = np.array(["rain" in note for note in notes], dtype="float32")

model = keras.Sequential(
    [
        keras.Input((4,)),
        keras.layers.Embedding(len(words.word_index), 6),
        keras.layers.GlobalAveragePooling1D(),
        keras.layers.Dense(1, activation="sigmoid"),
    ]
)
model.compile(optimizer="adam", loss="binary_crossentropy")
model.fit(rows, wet, epochs=1, verbose=0)
