import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

N_CLASSES = 5


def toy_images(n, seed):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, N_CLASSES, n)
    x = rng.random((n, 20, 20, 1), dtype=np.float32) * 0.4
    for k in range(N_CLASSES):
        x[y == k, 4 * k:4 * k + 4] += 0.5
    return x, y


x_train, y_train = toy_images(200, 0)
x_val, y_val = toy_images(50, 1)

model = tf.keras.Sequential([
    layers.Input((20, 20, 1)),
    layers.Conv2D(8, 3, activation="relu"),
    layers.MaxPooling2D(),
    layers.Flatten(),
    layers.Dense(N_CLASSES, activation="softmax"),  # <~ FIT210
])
model.compile(
    optimizer="adam",
    loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True),  # <- FIT210
    metrics=["accuracy"],
)
model.fit(x_train, y_train, epochs=2, batch_size=20, validation_data=(x_val, y_val), verbose=2)
