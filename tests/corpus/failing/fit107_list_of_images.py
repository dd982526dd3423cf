import numpy as np
import tensorflow as tf
from tensorflow.keras import layers


def read_image(seed, label):
    rng = np.random.default_rng(seed)
    img = rng.integers(0, 100, size=(16, 16, 3)).astype("float32")
    img[:, :, label] += 120
    return img / 255.0


images, labels = [], []
for i in range(90):
    label = i % 3
    images.append(read_image(i, label))
    labels.append(label)

labels = np.array(labels)  # <~ FIT107

model = tf.keras.Sequential([
    layers.Input((16, 16, 3)),
    layers.Conv2D(8, 3, activation="relu"),
    layers.GlobalAveragePooling2D(),
    layers.Dense(3, activation="softmax"),
])
model.compile(optimizer="adam", loss="sparse_categorical_crossentropy", metrics=["accuracy"])
model.fit(images, labels, epochs=2, batch_size=15)  # <- FIT107
