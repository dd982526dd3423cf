import numpy as np
import tensorflow as tf

rng = np.random.RandomState(0)
signal = np.cumsum(rng.normal(size=400)).astype('float32')
signal = (signal - signal.mean()) / signal.std()


def windows(series, size):
    X, Y = [], []
    for i in range(len(series) - size):
        X.append(series[i:i + size])
        Y.append(series[i + size])
    return np.array(X)[..., np.newaxis], np.array(Y)


X, Y = windows(signal, 12)
print(X.shape, Y.shape)

model = tf.keras.Sequential([
    tf.keras.layers.Input((12, 1)),
    tf.keras.layers.GRU(8),
    tf.keras.layers.Dense(1),
])
model.compile(loss='mae', optimizer=tf.keras.optimizers.RMSprop(1e-3))
model.fit(X, Y, epochs=2, batch_size=64, validation_split=0.1, verbose=2)
