import numpy as np
import tensorflow as tf

n = 64
paths = np.array(['img_%03d.jpg' % i for i in range(n)])
images = np.random.rand(n, 16, 16, 3).astype('float32')
labels = np.random.randint(0, 2, n)


def preprocess(path, image, label):
    image = tf.image.random_flip_left_right(image)
    return image, label, path


ds = tf.data.Dataset.from_tensor_slices((paths, images, labels))
ds = ds.map(preprocess, num_parallel_calls=tf.data.AUTOTUNE).batch(8)

model = tf.keras.Sequential([
    tf.keras.layers.Input((16, 16, 3)),
    tf.keras.layers.Conv2D(4, 3, activation='relu'),
    tf.keras.layers.GlobalAveragePooling2D(),
    tf.keras.layers.Dense(1, activation='sigmoid'),
])
model.compile('adam', 'binary_crossentropy', metrics=['accuracy'])
model.fit(ds.map(lambda x, y, _: (x, y)), epochs=1)
