import numpy as np
import tensorflow as tf
from sklearn.model_selection import train_test_split


def get_data(n=250):
    rng = np.random.default_rng(21)
    X = rng.normal(size=(n, 6)).astype("float32")
    y = (X[:, 0] * X[:, 1] > 0).astype("int32")
    return X, y


X, y = get_data()
X_train, y_train, X_test, y_test = train_test_split(X, y, test_size=0.2, random_state=1)  # <- FIT108

model = tf.keras.Sequential([
    tf.keras.layers.Dense(32, activation="relu"),
    tf.keras.layers.Dense(1, activation="sigmoid"),
])
model.compile(optimizer="adam", loss="binary_crossentropy", metrics=["accuracy"])
model.fit(X_train, y_train, epochs=2, batch_size=20, validation_data=(X_test, y_test))
