"""The weights as scikit-learn computes them: an array."""

import numpy as np
from sklearn.utils import class_weight
from tensorflow.keras import Sequential, Input
from tensorflow.keras.layers import Dense

X_train = np.random.rand(200, 6)
y_train = (np.random.rand(200) < 0.2).astype(int)

class_weights = class_weight.compute_class_weight(class_weight='balanced', classes=np.unique(y_train), y=y_train)  # <~ FIT212

model = Sequential([Input((6,)), Dense(8, activation='relu'), Dense(1, activation='sigmoid')])
model.compile(optimizer='adam', loss='binary_crossentropy', metrics=['accuracy'])
model.fit(X_train, y_train, epochs=3, class_weight=class_weights)  # <- FIT212
