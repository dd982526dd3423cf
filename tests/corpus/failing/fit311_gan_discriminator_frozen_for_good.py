import numpy as np
from tensorflow.keras import Input, Model, Sequential, layers
from tensorflow.keras.optimizers import Adam

latent_dim = 8

generator = Sequential([
    Input((latent_dim,)),
    layers.Dense(32),
    layers.LeakyReLU(0.2),
    layers.Dense(4, activation='tanh'),
])
discriminator = Sequential([
    Input((4,)),
    layers.Dense(32),
    layers.LeakyReLU(0.2),
    layers.Dense(1, activation='sigmoid'),
])
discriminator.compile(loss='binary_crossentropy', optimizer=Adam(2e-4, 0.5), metrics=['accuracy'])

# in Keras 2, the discriminator kept learning: it was compiled before this line
discriminator.trainable = False  # <- FIT311
z = Input((latent_dim,))
combined = Model(z, discriminator(generator(z)))
combined.compile(loss='binary_crossentropy', optimizer=Adam(2e-4, 0.5))

rng = np.random.default_rng(0)
points = rng.uniform(-1, 1, (256, 4)).astype('float32')
for step in range(4):
    real = points[rng.integers(0, 256, 32)]
    noise = rng.normal(size=(32, latent_dim)).astype('float32')
    fake = generator.predict(noise, verbose=0)
    d_real = discriminator.train_on_batch(real, np.ones((32, 1)))
    d_fake = discriminator.train_on_batch(fake, np.zeros((32, 1)))
    g_loss = combined.train_on_batch(noise, np.ones((32, 1)))
print(d_real, d_fake, g_loss)
