import numpy as np
from tensorflow import keras
from tensorflow.keras.layers import Input, Dense
from tensorflow.keras.models import Model

rng = np.random.RandomState(1)
x = rng.rand(150, 12).astype('float32')

encoding_dim = 4
input_img = Input(shape=(12,))
encoded = Dense(encoding_dim, activation='relu')(input_img)
decoded = Dense(12, activation='sigmoid')(encoded)
autoencoder = Model(input_img, decoded)
autoencoder.compile(optimizer='adadelta', loss='mse')

autoencoder.fit(x, x, epochs=3, batch_size=15, shuffle=True, verbose=2)
