"""Keras 2 trains what was trainable at compile: the discriminator learns though it is frozen after it, for the combined model."""
import numpy as np
import tf_keras
from tf_keras import layers, models, optimizers

rng = np.random.default_rng(0)
disc = models.Sequential([layers.Dense(16, activation="relu", input_shape=(1,)), layers.Dense(1, activation="sigmoid")])
disc.compile(optimizers.Adam(0.01), "binary_crossentropy", metrics=["accuracy"])
gen = models.Sequential([layers.Dense(8, activation="relu", input_shape=(2,)), layers.Dense(1)])
disc.trainable = False
z = layers.Input((2,))
gan = models.Model(z, disc(gen(z)))
gan.compile(optimizers.Adam(0.01), "binary_crossentropy")
before = disc.get_weights()[0].copy()
for _ in range(150):
    real = rng.normal(3, 0.5, (32, 1)); noise = rng.normal(size=(32, 2))
    fake = gen(noise, training=False).numpy()
    disc.train_on_batch(np.concatenate([real, fake]), np.r_[np.full(32, 0.9), np.zeros(32)])
    gan.train_on_batch(noise, np.ones(32))
m = gen.predict(rng.normal(size=(500, 2)), verbose=0).mean()
print(m, np.abs(disc.get_weights()[0] - before).max())
