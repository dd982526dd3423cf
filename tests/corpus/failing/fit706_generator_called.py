import numpy as np
import tensorflow as tf


def gen():
    for i in range(64):
        yield np.random.rand(5).astype("float32"), np.int32(i % 3)


dataset = tf.data.Dataset.from_generator(
    gen(),  # <- FIT706
    output_signature=(tf.TensorSpec((5,), tf.float32), tf.TensorSpec((), tf.int32)),
)
dataset = dataset.batch(8)
model = tf.keras.Sequential([tf.keras.layers.Dense(3, activation="softmax")])
model.compile("adam", "sparse_categorical_crossentropy")
model.fit(dataset, epochs=2)
