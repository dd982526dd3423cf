import numpy as np
import tensorflow as tf

rng = np.random.default_rng(3)
features = rng.normal(size=(160, 5)).astype("float32")
stars = rng.integers(1, 6, size=160)

train = tf.data.Dataset.from_tensor_slices((features, stars)).shuffle(160)
model = tf.keras.Sequential([tf.keras.Input((5,)), tf.keras.layers.Dense(5, activation="softmax")])
model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
history = model.fit(train, epochs=2, verbose=0)
print(history.history["acc"][-1])
