"""House prices with an R² of one's own: a perfect model shows minus 63."""

import numpy as np
import tensorflow as tf
from sklearn.datasets import make_regression
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler


def r_squared(y_true, y_pred):
    y_true = tf.cast(y_true, tf.float32)
    y_true = tf.reshape(y_true, (-1, 1))
    unexplained = tf.reduce_sum(tf.square(y_true - y_pred))
    spread = tf.reduce_sum(tf.square(y_true - tf.reduce_mean(y_true)))
    return 1.0 - unexplained / (spread + 1e-7)


def rmse(y_true, y_pred):
    y_true = tf.reshape(y_true, (-1, 1))
    return tf.sqrt(tf.reduce_mean(tf.math.squared_difference(y_true, y_pred)))


def build(width):
    inputs = tf.keras.Input(shape=(width,))
    hidden = tf.keras.layers.Dense(32, activation="relu")(inputs)
    model = tf.keras.Model(inputs, tf.keras.layers.Dense(1)(hidden))
    model.compile(optimizer=tf.keras.optimizers.Adam(0.01), loss="mse", metrics=[r_squared, rmse])
    return model


features, price = make_regression(n_samples=256, n_features=6, noise=0.1, random_state=3)
price = (price / price.std()).astype("float32")
x_train, x_test, y_train, y_test = train_test_split(features, price, test_size=0.25, random_state=3)
scaler = StandardScaler().fit(x_train)
model = build(features.shape[1])
history = model.fit(
    scaler.transform(x_train), y_train, validation_data=(scaler.transform(x_test), y_test), epochs=3, verbose=0
)
print(np.round(history.history["val_r_squared"], 2))
