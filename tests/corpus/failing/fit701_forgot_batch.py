import numpy as np
import tensorflow as tf


def load(n=200):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(n, 8)).astype("float32")
    y = (x[:, :4].sum(axis=1) > 0).astype("int32")
    return x, y


x, y = load()
train_ds = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(200)  # <- FIT701

model = tf.keras.Sequential([
    tf.keras.layers.Input((8,)),
    tf.keras.layers.Dense(16, activation="relu"),
    tf.keras.layers.Dense(2, activation="softmax"),
])
model.compile(optimizer="adam", loss="sparse_categorical_crossentropy", metrics=["accuracy"])
model.fit(train_ds, epochs=2, batch_size=20, verbose=2)  # <~ FIT701
