from tensorflow.keras.layers import Input, Dense
from tensorflow.keras.models import Model
from tensorflow.keras.optimizers import Adam
import numpy as np

# toy "sensor" data: 20 correlated channels
np.random.seed(1)
base = np.random.rand(250, 4)
X = (base @ np.random.rand(4, 20))
X = (X - X.min(0)) / (X.max(0) - X.min(0))

inp = Input(shape=(20,))
encoded = Dense(12, activation='relu')(inp)
encoded = Dense(4, activation='relu')(encoded)
decoded = Dense(12, activation='relu')(encoded)
decoded = Dense(20, activation='sigmoid')(decoded)

autoencoder = Model(inp, decoded)
encoder = Model(inp, encoded)
autoencoder.compile(Adam(learning_rate=1e-3), loss='mse')

autoencoder.fit(X, X, epochs=2, batch_size=25, shuffle=True, verbose=2)
codes = encoder.predict(X, verbose=0)
print(codes.shape)
