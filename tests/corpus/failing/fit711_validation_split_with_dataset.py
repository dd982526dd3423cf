import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

rng = np.random.default_rng(0)
x = rng.normal(size=(200, 9)).astype("float32")
y = (x[:, 0] + x[:, 1] > 0).astype("float32")

dataset = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(200, reshuffle_each_iteration=False).batch(20)

model = tf.keras.Sequential([
    layers.Input((9,)),
    layers.Dense(16, activation="relu"),
    layers.Dropout(0.2),
    layers.Dense(1, activation="sigmoid"),
])
model.compile(optimizer="adam", loss="binary_crossentropy", metrics=["accuracy"])
model.fit(dataset, epochs=2, validation_split=0.2, verbose=2)  # <- FIT711
