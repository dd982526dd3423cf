import numpy as np
import tensorflow as tf

pngs = [tf.io.encode_png(np.random.randint(0, 255, (16, 16, 3), dtype=np.uint8)).numpy() for _ in range(16)]


def parse(b, l):
    img = tf.io.decode_image(b, channels=3, dtype=tf.float32)
    img.set_shape([16, 16, 3])
    img = tf.image.resize(img, [8, 8])
    return img, l


ds = tf.data.Dataset.from_tensor_slices((pngs, np.random.randint(0, 2, 16))).map(parse).batch(4)
model = tf.keras.Sequential([tf.keras.layers.Flatten(), tf.keras.layers.Dense(2, activation="softmax")])
model.compile("adam", "sparse_categorical_crossentropy")
model.fit(ds, epochs=2, verbose=0)
