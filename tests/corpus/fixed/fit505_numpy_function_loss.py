import numpy as np
import tensorflow as tf
from tensorflow.keras.models import Sequential
from tensorflow.keras.layers import Dense, Input


def spectral_loss(y_true, y_pred):
    fa, fb = tf.abs(tf.signal.rfft(y_true)), tf.abs(tf.signal.rfft(y_pred))
    return tf.reduce_mean((fa - fb) ** 2, axis=-1)


rng = np.random.default_rng(1)
t = np.linspace(0, 1, 32)
params = rng.uniform(1, 4, (160, 2)).astype("float32")
waves = (np.sin(2 * np.pi * params[:, :1] * t) + 0.5 * np.cos(2 * np.pi * params[:, 1:] * t)).astype("float32")

model = Sequential([Input((2,)), Dense(32, activation="tanh"), Dense(32)])
model.compile(optimizer="adam", loss=spectral_loss)
model.fit(params, waves, epochs=1, batch_size=20, verbose=2)
