import numpy as np
import tensorflow as tf
from tensorflow.keras.models import Sequential
from tensorflow.keras.layers import Dense, Input


def my_huber_loss(y_true, y_pred):
    threshold = 1.0
    error = y_true - y_pred
    small = tf.square(error) / 2
    large = threshold * (tf.abs(error) - 0.5 * threshold)
    return tf.where(tf.abs(error) <= threshold, small, large)


xs = np.linspace(-2, 2, 200).reshape(-1, 1)
ys = 2 * xs - 1 + 0.1 * np.random.default_rng(0).normal(size=xs.shape)

model = Sequential([Input((1,)), Dense(1)])
model.compile(optimizer="sgd", loss=my_huber_loss)
model.fit(xs, ys, epochs=3, verbose=2)
