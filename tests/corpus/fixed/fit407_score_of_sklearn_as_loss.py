"""The F1 score of scikit-learn as a loss (after keras#16998)."""

import numpy as np
import tensorflow as tf


def f1_loss(y_true, y_pred):
    hits = tf.reduce_sum(y_true * y_pred, axis=0)
    found = tf.reduce_sum(y_pred, axis=0)
    wanted = tf.reduce_sum(y_true, axis=0)
    return 1 - tf.reduce_mean(2 * hits / (found + wanted + 1e-7))


def create_model(n_in, n_out):
    model = tf.keras.models.Sequential()
    model.add(tf.keras.layers.Dense(32, activation='relu', input_shape=(n_in,)))
    model.add(tf.keras.layers.Dropout(0.2))
    model.add(tf.keras.layers.Dense(n_out, activation='softmax'))
    model.compile(optimizer='adam', loss=f1_loss)
    return model


X = np.random.randn(60, 7)
y = tf.keras.utils.to_categorical(np.random.randint(3, size=60))
m = create_model(7, 3)
m.fit(X, y, epochs=3)
