import numpy as np
import tensorflow as tf

img = tf.data.Dataset.from_tensor_slices(np.random.rand(20, 8, 8, 1).astype("float32"))
meta = tf.data.Dataset.from_tensor_slices(np.random.rand(20, 4).astype("float32"))
lab = tf.data.Dataset.from_tensor_slices(np.random.randint(0, 2, 20))
ds = tf.data.Dataset.zip(((img, meta), lab)).batch(4)
a = tf.keras.Input((8, 8, 1)); b = tf.keras.Input((4,))
h = tf.keras.layers.Concatenate()([tf.keras.layers.Flatten()(a), b])
model = tf.keras.Model([a, b], tf.keras.layers.Dense(1, activation="sigmoid")(h))
model.compile("adam", "binary_crossentropy")
model.fit(ds, epochs=1, verbose=0)
