import numpy as np
import tensorflow as tf

def read_images(n):
    images = []
    labels = []
    for k in range(n):
        images.append(np.random.rand(32, 32, 3))
        labels.append(k % 2)
    return images, labels  # <~ FIT107

images, labels = read_images(64)
model = tf.keras.Sequential()
model.add(tf.keras.layers.Conv2D(4, 3, activation="relu", input_shape=(32, 32, 3)))
model.add(tf.keras.layers.Flatten())
model.add(tf.keras.layers.Dense(1, activation="sigmoid"))
model.compile("adam", "binary_crossentropy")
model.fit(images, labels, epochs=1)  # <- FIT107
