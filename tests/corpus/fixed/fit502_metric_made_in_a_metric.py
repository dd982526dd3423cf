"""The metric is made once and keeps its counts from batch to batch."""

import numpy as np
import tensorflow as tf

model = tf.keras.Sequential([tf.keras.Input((8, 8, 1)), tf.keras.layers.Conv2D(1, 3, padding="same", activation="sigmoid")])
model.compile(
    optimizer="adam", loss="binary_crossentropy", metrics=[tf.keras.metrics.BinaryIoU(target_class_ids=[0, 1], threshold=0.5)]
)
rng = np.random.default_rng(1)
images = rng.random((16, 8, 8, 1)).astype("float32")
model.fit(images, (images > 0.5).astype("float32"), epochs=1, batch_size=4, verbose=0)
