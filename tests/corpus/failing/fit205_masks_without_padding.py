import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

def make_model(size, classes):
    inputs = tf.keras.Input((size, size, 3))
    x = layers.Conv2D(8, 3, activation="relu")(inputs)  # <- FIT205
    x = layers.Conv2D(8, 3, activation="relu", padding="same")(x)
    outputs = layers.Conv2D(classes, 1, activation="softmax")(x)
    return tf.keras.Model(inputs, outputs)

images = np.random.rand(12, 32, 32, 3).astype("float32")
masks = np.random.randint(0, 4, (12, 32, 32))
model = make_model(32, 4)
model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
model.fit(images, masks, batch_size=4, epochs=1)
