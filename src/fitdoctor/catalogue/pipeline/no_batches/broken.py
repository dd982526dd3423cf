"""Training on a data set that is smaller than one batch."""

import numpy as np
import tensorflow as tf

rng = np.random.default_rng(6)
gait = rng.normal(size=(48, 10)).astype("float32")
fell = (gait[:, :1] + gait[:, 4:5] > 0).astype("float32")

pilot = tf.data.Dataset.from_tensor_slices((gait, fell)).shuffle(48)
pilot = pilot.batch(64, drop_remainder=True)  # <- FIT705

model = tf.keras.Sequential(
    [tf.keras.Input((10,)), tf.keras.layers.Dense(8, "relu"), tf.keras.layers.Dense(1, "sigmoid")]
)
model.compile("adam", "binary_crossentropy")
model.fit(pilot, epochs=3, verbose=0)
