import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

tf.keras.utils.set_random_seed(3)
rng = np.random.default_rng(3)
x = rng.normal(size=(320, 10)).astype("float32")
y = np.digitize(x[:, 0], [-0.5, 0.5])

model = tf.keras.Sequential([
    layers.Input((10,)),
    layers.Dense(16, activation="relu"),
    layers.Dense(16, activation="relu"),
    layers.Dense(16, activation="relu"),
    layers.Dense(3, activation="softmax"),
])
model.compile(tf.keras.optimizers.Adam(learning_rate=10.0), "sparse_categorical_crossentropy", metrics=["accuracy"])  # <- FIT002
history = model.fit(x, y, epochs=6, batch_size=16, verbose=2)
print(np.unique(model.predict(x, verbose=0).argmax(axis=1)))
