import numpy as np
import tensorflow as tf
from tensorflow.keras import layers


def backbone():
    return tf.keras.Sequential([
        layers.Input((16, 16, 3)),
        layers.Conv2D(8, 3, activation="relu"),
        layers.BatchNormalization(),
        layers.GlobalAveragePooling2D(),
    ], name="backbone")


rng = np.random.default_rng(0)
y = rng.integers(0, 2, 80).astype("float32")
x = rng.random((80, 16, 16, 3)).astype("float32") * 0.5
x[y == 1, :, :, 1] += 0.4

base = backbone()
base.trainable = False
inputs = tf.keras.Input((16, 16, 3))
h = base(inputs, training=False)
model = tf.keras.Model(inputs, layers.Dense(1, activation="sigmoid")(h))
model.compile(tf.keras.optimizers.Adam(1e-2), "binary_crossentropy", metrics=["accuracy"])
model.fit(x, y, epochs=1, batch_size=16, verbose=2)

# second phase: thaw and compile again
base.trainable = True
model.compile(tf.keras.optimizers.Adam(1e-4), "binary_crossentropy", metrics=["accuracy"])
model.fit(x, y, epochs=1, batch_size=16, verbose=2)
