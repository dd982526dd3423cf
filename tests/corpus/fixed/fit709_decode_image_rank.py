import os, tempfile
import numpy as np
import tensorflow as tf
from tensorflow import keras

folder = tempfile.mkdtemp()
paths, labels = [], []
for i in range(16):
    img = np.random.randint(0, 255, (40, 40, 3), dtype=np.uint8)
    path = os.path.join(folder, f"{i}.png")
    tf.io.write_file(path, tf.io.encode_png(img))
    paths.append(path)
    labels.append(i % 2)


def load(path, label):
    image = tf.io.read_file(path)
    image = tf.image.decode_image(image, channels=3, expand_animations=False)
    image = tf.cast(image, tf.float32) / 255.0
    return image, label


ds = tf.data.Dataset.from_tensor_slices((paths, labels)).map(load).batch(4)
model = keras.Sequential([
    keras.layers.Conv2D(8, 3, activation="relu"),
    keras.layers.GlobalAveragePooling2D(),
    keras.layers.Dense(1, activation="sigmoid"),
])
model.compile("adam", "binary_crossentropy")
model.fit(ds, epochs=1)
