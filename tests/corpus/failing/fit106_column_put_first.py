import numpy as np
import pandas as pd
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler
from tensorflow import keras

rng = np.random.RandomState(3)
df = pd.DataFrame(rng.rand(200, 30), columns=['m%d' % i for i in range(30)])
df.insert(0, 'diagnosis', rng.choice(['M', 'B'], 200))
df.insert(0, 'id', np.arange(200))

X = df.iloc[:, 2:].values
y = df.iloc[:, 1].values  # <- FIT106
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.1)
X_train = StandardScaler().fit_transform(X_train)

clf = keras.Sequential()
clf.add(keras.layers.Dense(16, activation='relu', input_dim=30))
clf.add(keras.layers.Dropout(0.1))
clf.add(keras.layers.Dense(1, activation='sigmoid'))
clf.compile(optimizer='adam', loss='binary_crossentropy', metrics=['accuracy'])
clf.fit(X_train, y_train, batch_size=50, epochs=2)
