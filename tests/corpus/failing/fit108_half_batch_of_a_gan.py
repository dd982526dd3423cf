import numpy as np
from keras.layers import Dense, Flatten, Input, LeakyReLU, Reshape
from keras.models import Sequential


class GAN:
    def __init__(self):
        self.img_shape, self.latent_dim = (12, 12, 1), 20
        self.generator = Sequential(
            [Input((self.latent_dim,)), Dense(144, activation="tanh"), Reshape(self.img_shape)]
        )
        self.discriminator = Sequential([Input(self.img_shape), Flatten(), Dense(32), LeakyReLU(0.2)])
        self.discriminator.add(Dense(1, activation="sigmoid"))
        self.discriminator.compile(loss="binary_crossentropy", optimizer="adam", metrics=["accuracy"])

    def train(self, epochs, batch_size=32):
        images = np.random.rand(200, 12, 12, 1) * 2 - 1
        half_batch = batch_size // 2
        valid = np.ones((batch_size, 1))  # <- FIT108
        fake = np.zeros((half_batch, 1))
        for _ in range(epochs):
            real = images[np.random.randint(0, len(images), half_batch)]  # <~ FIT108
            noise = np.random.normal(0, 1, (half_batch, self.latent_dim))
            self.discriminator.train_on_batch(real, valid)
            self.discriminator.train_on_batch(self.generator.predict(noise, verbose=0), fake)


if __name__ == "__main__":
    GAN().train(epochs=2)
