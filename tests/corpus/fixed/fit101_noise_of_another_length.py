import numpy as np
from tensorflow import keras
from tensorflow.keras import layers
latent = 32
gen = keras.Sequential([layers.Input((latent,)), layers.Dense(64, activation="relu"), layers.Dense(784, activation="sigmoid"), layers.Reshape((28, 28, 1))])
disc = keras.Sequential([layers.Input((28, 28, 1)), layers.Flatten(), layers.Dense(1, activation="sigmoid")])
disc.compile("adam", "binary_crossentropy")
disc.trainable = False
z = keras.Input((latent,))
gan = keras.Model(z, disc(gen(z)))
gan.compile("adam", "binary_crossentropy")
for step in range(2):
    noise = np.random.normal(size=(16, latent))
    fake = gen.predict(noise, verbose=0)
    gan.train_on_batch(noise, np.ones((16, 1)))
