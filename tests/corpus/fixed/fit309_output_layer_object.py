import numpy as np
from tensorflow.keras.layers import Input, Dense, Dropout
from tensorflow.keras.models import Model

rng = np.random.default_rng(0)
X = rng.normal(size=(200, 10))
y = (X[:, 0] * X[:, 1] > 0).astype(int)

inputs = Input(shape=(10,))
x = Dense(32, activation='relu')(inputs)
x = Dropout(0.2)(x)
x = Dense(16, activation='relu')(x)
predictions = Dense(1, activation='sigmoid')(x)

model = Model(inputs=inputs, outputs=predictions)
model.compile(optimizer='rmsprop', loss='binary_crossentropy', metrics=['accuracy'])
model.fit(X, y, epochs=2, verbose=2)
