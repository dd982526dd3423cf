import numpy as np
import pandas as pd
import tensorflow as tf
from tensorflow.keras.layers import TextVectorization, Embedding, LSTM, Dense, Bidirectional

words = "good bad awful great movie plot acting boring love hate".split()
df = pd.DataFrame(
    {
        "text": [" ".join(np.random.choice(words, 8)) for _ in range(120)],
        "target": np.random.randint(0, 2, 120),
    }
)
train_df = df.sample(frac=0.8, random_state=1)
val_df = df.drop(train_df.index)

vectorizer = TextVectorization(max_tokens=1000, output_sequence_length=12)
vectorizer.adapt(train_df["text"].values)


def encode(text, label):
    return vectorizer(text), label


train_ds = (
    tf.data.Dataset.from_tensor_slices((train_df["text"].values, train_df["target"].values))
    .shuffle(100)
    .batch(16)
)  # <~ FIT106
val_ds = tf.data.Dataset.from_tensor_slices((val_df["text"].values, val_df["target"].values)).batch(16)
train_ds.map(encode)  # <- FIT106
val_ds = val_ds.map(encode)

model = tf.keras.Sequential(
    [
        Embedding(1000, 16),
        Bidirectional(LSTM(8)),
        Dense(1, activation="sigmoid"),
    ]
)
model.compile(loss="binary_crossentropy", optimizer="adam", metrics=["accuracy"])
history = model.fit(train_ds, validation_data=val_ds, epochs=1, verbose=0)
