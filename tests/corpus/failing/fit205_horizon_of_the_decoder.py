import numpy as np
import tensorflow as tf

PAST, FUTURE, FEATS = 24, 6, 3
series = np.random.rand(300, FEATS).astype("float32")
X, Y = [], []
for i in range(len(series) - PAST - FUTURE):
    X.append(series[i:i + PAST])
    Y.append(series[i + PAST:i + PAST + FUTURE, :1])
X, Y = np.array(X), np.array(Y)
model = tf.keras.Sequential([
    tf.keras.Input((PAST, FEATS)),
    tf.keras.layers.LSTM(16),
    tf.keras.layers.RepeatVector(PAST),  # <- FIT205
    tf.keras.layers.LSTM(16, return_sequences=True),
    tf.keras.layers.TimeDistributed(tf.keras.layers.Dense(1)),
])
model.compile("adam", "mae")
model.fit(X, Y, epochs=1, verbose=0)  # <~ FIT205
