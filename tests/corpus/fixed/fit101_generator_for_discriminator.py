# simple conv GAN, generator output does not fit the discriminator input
import numpy as np
from tensorflow import keras
from tensorflow.keras import layers

latent_dim = 16

generator = keras.Sequential([
    keras.Input(shape=(latent_dim,)),
    layers.Dense(7 * 7 * 8),
    layers.Reshape((7, 7, 8)),
    layers.Conv2DTranspose(8, 4, strides=2, padding='same', activation='relu'),
    layers.Conv2DTranspose(1, 4, strides=2, padding='same', activation='sigmoid'),
], name='generator')
discriminator = keras.Sequential([
    keras.Input(shape=(28, 28, 1)),
    layers.Conv2D(8, 3, strides=2, padding='same'),
    layers.Flatten(),
    layers.Dense(1, activation='sigmoid'),
], name='discriminator')
discriminator.compile('adam', 'binary_crossentropy')
discriminator.trainable = False

gan_input = keras.Input(shape=(latent_dim,))
gan_output = discriminator(generator(gan_input))
gan = keras.Model(gan_input, gan_output)
gan.compile(optimizer='adam', loss='binary_crossentropy')
noise = np.random.normal(size=(16, latent_dim))
print(gan.train_on_batch(noise, np.ones((16, 1))))
