import numpy as np
import tensorflow as tf
from sklearn.model_selection import train_test_split
X = np.random.rand(100, 8).astype("float32")
y = np.random.randint(0, 2, 100)
X_train, X_val, y_train, y_val = train_test_split(X, y, test_size=.2)
model = tf.keras.Sequential([tf.keras.Input((8,)), tf.keras.layers.Dense(4, activation="relu"), tf.keras.layers.Dense(1, activation="sigmoid")])
model.compile("adam", "binary_crossentropy")
model.fit(X_train, y_train, validation_data=(y_val, X_val), epochs=2, verbose=0)  # <- FIT712
