import numpy as np
import tensorflow as tf

BATCH_SIZE = 32


def rare_disease(n=140):
    rng = np.random.default_rng(18)
    x = rng.normal(size=(n, 11)).astype("float32")
    y = (x[:, 2] > 0.3).astype("float32")
    return x, y


def make_ds(x, y):
    ds = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(len(y))
    return ds.batch(BATCH_SIZE, drop_remainder=True).prefetch(tf.data.AUTOTUNE)


x, y = rare_disease()
model = tf.keras.Sequential([
    tf.keras.layers.Input((11,)),
    tf.keras.layers.Dense(16, activation="relu"),
    tf.keras.layers.Dense(1, activation="sigmoid"),
])
model.compile(optimizer="adam", loss="binary_crossentropy", metrics=["accuracy"])
model.fit(make_ds(x, y), epochs=2, verbose=2)
print("training done")
