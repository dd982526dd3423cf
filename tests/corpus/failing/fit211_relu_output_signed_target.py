import numpy as np
import tensorflow as tf
from sklearn.model_selection import train_test_split

SEED = 3


def torque_log(n=300):
    rng = np.random.default_rng(SEED)
    angle = rng.uniform(-np.pi, np.pi, n)
    speed = rng.normal(size=n)
    torque = 2.0 * np.sin(angle) - 0.5 * speed
    return np.stack([np.sin(angle), np.cos(angle), speed], axis=1), torque


def make_model():
    model = tf.keras.models.Sequential()
    model.add(tf.keras.layers.Input((3,)))
    model.add(tf.keras.layers.Dense(32, activation="relu"))
    model.add(tf.keras.layers.Dense(32, activation="relu"))
    model.add(tf.keras.layers.Dense(1, activation="relu"))  # <- FIT211
    model.compile(optimizer="adam", loss="mean_squared_error")
    return model


X, y = torque_log()
X_train, X_val, y_train, y_val = train_test_split(X, y, test_size=0.2, random_state=SEED)
make_model().fit(X_train, y_train, validation_data=(X_val, y_val), epochs=2, batch_size=24, verbose=2)
