import keras
import numpy as np
from sklearn.preprocessing import StandardScaler


def documents(n=200, topics=4):
    rng = np.random.default_rng(14)
    share = rng.dirichlet(np.full(topics, 0.7), n)
    words = share @ rng.normal(size=(topics, 15)) + rng.normal(0, 0.1, (n, 15))
    return words, share


words, share = documents()
x = StandardScaler().fit_transform(words)
y = StandardScaler().fit_transform(share)  # <- FIT207

inp = keras.Input((15,))
h = keras.layers.Dense(24, activation="relu")(inp)
out = keras.layers.Dense(4, activation="softmax")(h)
model = keras.Model(inp, out)
model.compile(optimizer="adam", loss=keras.losses.CategoricalCrossentropy())
model.fit(x, y, epochs=2, batch_size=20, verbose=2)
