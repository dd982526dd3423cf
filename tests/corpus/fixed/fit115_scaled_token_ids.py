import numpy as np
import tensorflow as tf
from tensorflow.keras import layers
from sklearn.preprocessing import MinMaxScaler

VOCAB_SIZE = 300
SEQ_LEN = 15


def corpus(n=200):
    rng = np.random.default_rng(10)
    label = rng.integers(0, 2, n)
    start = np.where(label == 1, 1, VOCAB_SIZE // 2)[:, None]
    tokens = start + rng.integers(0, VOCAB_SIZE // 2 - 1, (n, SEQ_LEN))
    return tokens, label


tokens, label = corpus()
x_train, x_test = tokens[:160], tokens[160:]
y_train, y_test = label[:160], label[160:]

model = tf.keras.Sequential([
    layers.Embedding(VOCAB_SIZE, 16),
    layers.GlobalAveragePooling1D(),
    layers.Dense(8, activation="relu"),
    layers.Dense(1, activation="sigmoid"),
])
model.compile(optimizer="adam", loss="binary_crossentropy", metrics=["accuracy"])
model.fit(x_train, y_train, epochs=2, batch_size=20, validation_data=(x_test, y_test), verbose=2)
