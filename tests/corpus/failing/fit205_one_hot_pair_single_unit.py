import numpy as np
import tensorflow as tf
from tensorflow.keras.utils import to_categorical

rng = np.random.default_rng(5)
x = rng.normal(size=(200, 20, 3)).astype("float32")
fall = (x[:, :, 0].mean(axis=1) > 0).astype(int)
y = to_categorical(fall, 2)  # <~ FIT205

n = 160
train_ds = tf.data.Dataset.from_tensor_slices((x[:n], y[:n])).shuffle(n).batch(20)
valid_ds = tf.data.Dataset.from_tensor_slices((x[n:], y[n:])).batch(20)

inp = tf.keras.Input((20, 3))
h = tf.keras.layers.LSTM(8)(inp)
out = tf.keras.layers.Dense(1, activation="sigmoid")(h)  # <- FIT205
model = tf.keras.Model(inp, out)
model.compile(optimizer="adam", loss="binary_crossentropy", metrics=["accuracy"])
model.fit(train_ds, validation_data=valid_ds, epochs=2, verbose=2)
