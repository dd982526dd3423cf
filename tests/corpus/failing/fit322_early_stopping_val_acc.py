import numpy as np
from tensorflow.keras.models import Sequential
from tensorflow.keras.layers import Dense, Input
from tensorflow.keras.callbacks import EarlyStopping

rng = np.random.default_rng(0)
X = rng.normal(size=(300, 8))
y = (X[:, 0] + X[:, 1] ** 2 > 0.5).astype(int)

model = Sequential([Input((8,)), Dense(16, activation='relu'), Dense(1, activation='sigmoid')])
model.compile(loss='binary_crossentropy', optimizer='adam', metrics=['accuracy'])

es = EarlyStopping(monitor='val_acc', patience=3, verbose=1)  # <- FIT322
model.fit(X, y, validation_split=0.2, epochs=4, batch_size=30, callbacks=[es], verbose=2)
