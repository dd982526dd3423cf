import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

rng = np.random.default_rng(0)
x = rng.normal(size=(200, 9)).astype("float32")
y = (x[:, 0] + x[:, 1] > 0).astype("float32")

dataset = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(200, reshuffle_each_iteration=False).batch(20)
train_ds, valid_ds = dataset.skip(2), dataset.take(2)

model = tf.keras.Sequential([
    layers.Input((9,)),
    layers.Dense(16, activation="relu"),
    layers.Dropout(0.2),
    layers.Dense(1, activation="sigmoid"),
])
model.compile(optimizer="adam", loss="binary_crossentropy", metrics=["accuracy"])
model.fit(train_ds, epochs=2, validation_data=valid_ds, verbose=2)
