"""Images are read class by class, as from folders."""
import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

BATCH_SIZE = 25


def read_folders(classes=4, per_class=50):
    rng = np.random.default_rng(1)
    images, labels = [], []
    for k in range(classes):
        for _ in range(per_class):
            img = rng.random((12, 12, 1)).astype("float32") * 0.5
            img[3 * k:3 * k + 3] += 0.4
            images.append(img)
            labels.append(k)
    return np.stack(images), np.array(labels)


def get_train_ds():
    ds = tf.data.Dataset.from_tensor_slices(read_folders())
    ds = ds.shuffle(200)
    ds = ds.batch(BATCH_SIZE)
    return ds.prefetch(tf.data.AUTOTUNE)


model = tf.keras.Sequential([
    layers.Input((12, 12, 1)),
    layers.Conv2D(8, 3, activation="relu"),
    layers.Flatten(),
    layers.Dense(4, activation="softmax"),
])
model.compile(optimizer="adam", loss="sparse_categorical_crossentropy", metrics=["accuracy"])
model.fit(get_train_ds(), epochs=2, verbose=2)
