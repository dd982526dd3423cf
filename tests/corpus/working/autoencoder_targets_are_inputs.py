import numpy as np
from tensorflow.keras.layers import Dense, Input
from tensorflow.keras.models import Model

rng = np.random.default_rng(0)
codes = rng.normal(size=(220, 3))
x = 1 / (1 + np.exp(-(codes @ rng.normal(size=(3, 16)))))

inp = Input((16,))
code = Dense(3, activation="tanh", name="code")(Dense(10, activation="relu")(inp))
out = Dense(16, activation="sigmoid")(Dense(10, activation="relu")(code))
autoencoder = Model(inp, out)
autoencoder.compile(optimizer="adam", loss="binary_crossentropy")     # pixels in 0..1
autoencoder.fit(x[:180], x[:180], validation_data=(x[180:], x[180:]), epochs=2, batch_size=18, verbose=2)
