import numpy as np
import tensorflow as tf

rng = np.random.default_rng(0)


def gen():
    for _ in range(50):
        x = rng.normal(size=(10,)).astype("float32")
        yield x, float(x.sum() > 0)


ds = tf.data.Dataset.from_generator(
    gen, output_signature=(tf.TensorSpec((10,), tf.float32), tf.TensorSpec((), tf.float32))
)
ds = ds.batch(10)
model = tf.keras.Sequential([tf.keras.Input((10,)), tf.keras.layers.Dense(1, activation="sigmoid")])
model.compile("adam", "binary_crossentropy")
model.fit(ds, steps_per_epoch=20, epochs=3, verbose=0)  # <- FIT703
