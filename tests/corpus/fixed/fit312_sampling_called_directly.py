import numpy as np
import tensorflow as tf
from tensorflow.keras import layers, Model

original_dim = 64
intermediate_dim = 32
latent_dim = 2

inputs = layers.Input(shape=(original_dim,))
h = layers.Dense(intermediate_dim, activation='relu')(inputs)
z_mean = layers.Dense(latent_dim)(h)
z_log_sigma = layers.Dense(latent_dim)(h)


def sampling(args):
    z_mean, z_log_sigma = args
    epsilon = tf.random.normal(shape=(tf.shape(z_mean)[0], latent_dim), mean=0., stddev=0.1)
    return z_mean + tf.exp(z_log_sigma) * epsilon


z = layers.Lambda(sampling)([z_mean, z_log_sigma])

x = layers.Dense(intermediate_dim, activation='relu')(z)
outputs = layers.Dense(original_dim, activation='sigmoid')(x)
vae = Model(inputs, outputs, name='vae_mlp')
vae.compile(optimizer='adam', loss='binary_crossentropy')
x_train = np.random.rand(256, original_dim).astype('float32')
vae.fit(x_train, x_train, epochs=2, batch_size=32)
