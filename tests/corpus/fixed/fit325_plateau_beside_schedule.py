"""A callback that lowers the rate of an optimizer with a schedule."""

import numpy as np
import tensorflow as tf
from tensorflow.keras.callbacks import EarlyStopping

lr_schedule = tf.keras.optimizers.schedules.ExponentialDecay(1e-2, decay_steps=100, decay_rate=0.9)
model = tf.keras.Sequential([tf.keras.layers.Dense(8, activation="relu"), tf.keras.layers.Dense(1)])
model.compile(optimizer=tf.keras.optimizers.RMSprop(learning_rate=lr_schedule), loss="mae")
callbacks = [
    EarlyStopping(monitor="val_loss", patience=3),
]
x, y = np.random.rand(64, 4), np.random.rand(64)
model.fit(x, y, validation_split=0.25, epochs=4, callbacks=callbacks, verbose=0)
