import os, tempfile
import numpy as np
import tensorflow as tf

folder = tempfile.mkdtemp()
paths, labels = [], []
for i in range(16):
    img = np.random.randint(0, 255, (40, 30, 3), dtype=np.uint8)
    path = os.path.join(folder, f"{i}.png")
    tf.io.write_file(path, tf.io.encode_png(img))
    paths.append(path)
    labels.append(i % 2)


def preprocess(path, label):
    raw = tf.io.read_file(path)
    img = tf.io.decode_image(raw, channels=3, expand_animations=False)
    img = tf.image.resize(img, [32, 32])
    return img / 255.0, label


train = tf.data.Dataset.from_tensor_slices((paths, labels))
train = train.map(preprocess, num_parallel_calls=tf.data.AUTOTUNE).batch(4)
model = tf.keras.Sequential([
    tf.keras.Input((32, 32, 3)),
    tf.keras.layers.Flatten(),
    tf.keras.layers.Dense(2, activation="softmax"),
])
model.compile(optimizer="adam", loss="sparse_categorical_crossentropy")
model.fit(train, epochs=1)
