"""Trained on pictures without their channel axis, which Keras adds; then asked about a single one."""

import numpy as np
import tensorflow as tf

pictures = np.random.rand(100, 28, 28)
labels = np.random.randint(0, 10, 100)
model = tf.keras.Sequential(
    [
        tf.keras.layers.Conv2D(8, 3, activation="relu", input_shape=(28, 28, 1)),
        tf.keras.layers.Flatten(),
        tf.keras.layers.Dense(10, activation="softmax"),
    ]
)
model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
model.fit(pictures, labels, epochs=1, verbose=0)
picture = pictures[0]  # <- FIT102
print(model.predict(picture).argmax())  # <~ FIT102
