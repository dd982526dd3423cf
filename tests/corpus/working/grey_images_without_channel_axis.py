import numpy as np
import tensorflow as tf
from tensorflow.keras.layers import Conv2D, Dense, Flatten, Input, MaxPooling2D

rng = np.random.default_rng(0)
labels = rng.integers(0, 4, 160)
images = rng.random((160, 28, 28)) * 0.3
for k in range(4):
    images[labels == k, 7 * k:7 * k + 7] += 0.6
images = images.astype("float32")        # (160, 28, 28): Keras adds the channel

model = tf.keras.models.Sequential()
model.add(Input((28, 28, 1)))
model.add(Conv2D(8, 3, activation="relu"))
model.add(MaxPooling2D(2))
model.add(Flatten())
model.add(Dense(4, activation="softmax"))
model.compile(optimizer="adam", loss="sparse_categorical_crossentropy", metrics=["accuracy"])
model.fit(images, labels, epochs=2, batch_size=20, verbose=2)
