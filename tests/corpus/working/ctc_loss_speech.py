import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

N_CHARS, FRAMES, LETTERS = 6, 24, 4


def utterances(n=96):
    rng = np.random.default_rng(0)
    text = rng.integers(1, N_CHARS, (n, LETTERS))          # 0 is the blank
    audio = rng.normal(0, 0.2, (n, FRAMES, N_CHARS)).astype("float32")
    per = FRAMES // LETTERS
    for i in range(n):
        for j, c in enumerate(text[i]):
            audio[i, j * per + 1:(j + 1) * per - 1, c] += 1.0
    return audio, text


audio, text = utterances()
inp = layers.Input((FRAMES, N_CHARS))
h = layers.Conv1D(16, 3, padding="same", activation="relu")(inp)
logits = layers.Dense(N_CHARS)(h)
model = tf.keras.Model(inp, logits)
model.compile(optimizer="adam", loss=tf.keras.losses.CTC())
model.fit(audio, text, epochs=2, batch_size=16, verbose=2)
