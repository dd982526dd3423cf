import numpy as np
import tensorflow as tf

rng = np.random.default_rng(8)
images = rng.random((200, 12, 12, 1)).astype("float32")
count = (images > 0.8).sum(axis=(1, 2, 3)).astype("float32")
count = (count - count.mean()) / count.std()

order = rng.permutation(200)
train_idx, val_idx = order[:180], order[120:]  # <- FIT003

train_ds = tf.data.Dataset.from_tensor_slices((images[train_idx], count[train_idx])).shuffle(200).batch(20)
val_ds = tf.data.Dataset.from_tensor_slices((images[val_idx], count[val_idx])).batch(20)

model = tf.keras.Sequential([
    tf.keras.layers.Input((12, 12, 1)),
    tf.keras.layers.Conv2D(4, 3, activation="relu"),
    tf.keras.layers.GlobalAveragePooling2D(),
    tf.keras.layers.Dense(1),
])
model.compile("adam", "mse")
model.fit(train_ds, validation_data=val_ds, epochs=2, verbose=2)
