"""Small MLP on hand-written digits (synthetic stand-in for MNIST)."""
import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

NUM_CLASSES = 10


def load_digits(n=200, seed=0):
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, NUM_CLASSES, size=n)
    images = rng.random((n, 28, 28)) * 0.2
    for i, lab in enumerate(labels):
        images[i, 2 * lab:2 * lab + 4, 5:20] += 0.8
    return images.astype("float32"), labels


x_train, y_train = load_digits(200)
x_test, y_test = load_digits(60, seed=1)
print("train", x_train.shape, "test", x_test.shape)

model = tf.keras.Sequential([
    layers.Input(shape=(784,)),  # <- FIT101
    layers.Dense(64, activation="relu"),
    layers.Dropout(0.2),
    layers.Dense(NUM_CLASSES, activation="softmax"),
])
model.compile(optimizer="adam", loss="sparse_categorical_crossentropy", metrics=["accuracy"])
model.fit(x_train, y_train, epochs=2, batch_size=32, validation_data=(x_test, y_test))  # <~ FIT101
