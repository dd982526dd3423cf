"""The crossentropy is watched beside the regularised loss; labels of shape (n,) do for the loss, not for the metric."""

import numpy as np
import tensorflow as tf
from tensorflow.keras import layers, regularizers

FEATURES = 6
rows = np.random.default_rng(0).normal(size=(200, FEATURES)).astype("float32")
labels = (rows[:, 0] > 0).astype("float32")  # <~ FIT218


def compile_and_fit(model, epochs=2):
    model.compile(
        optimizer=tf.keras.optimizers.Adam(),
        loss=tf.keras.losses.BinaryCrossentropy(from_logits=True),
        metrics=[tf.keras.metrics.BinaryCrossentropy(from_logits=True, name="crossentropy")],  # <- FIT218
    )
    return model.fit(rows, labels, epochs=epochs, validation_split=0.2, verbose=0)


tiny = tf.keras.Sequential(
    [
        layers.Input((FEATURES,)),
        layers.Dense(16, activation="elu", kernel_regularizer=regularizers.l2(0.001)),
        layers.Dense(1),
    ]
)
print(compile_and_fit(tiny).history["val_crossentropy"])
