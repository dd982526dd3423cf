"""Callbacks with explicit modes: lower is better for an error rate that is called like an accuracy's complement."""
import numpy as np
from tensorflow import keras


def accuracy_gap(y, p):
    return keras.ops.mean(keras.ops.abs(y - p))


keras.utils.set_random_seed(0)
x = np.random.default_rng(0).normal(size=(200, 6)).astype("float32")
y = (x[:, :1] > 0.3).astype("float32")
model = keras.Sequential([keras.Input((6,)), keras.layers.Dense(8, activation="relu"), keras.layers.Dense(1, activation="sigmoid")])
model.compile("adam", "binary_crossentropy", metrics=[accuracy_gap, "mae", keras.metrics.Recall(name="recall"), keras.metrics.FalsePositives(name="fp")])
model.fit(
    x,
    y,
    validation_split=0.3,
    epochs=3,
    callbacks=[
        keras.callbacks.EarlyStopping("val_accuracy_gap", mode="min", patience=2),
        keras.callbacks.EarlyStopping("val_recall", mode="max", patience=2),
        keras.callbacks.ReduceLROnPlateau("val_mae", mode="min", patience=2),
        keras.callbacks.ModelCheckpoint("/tmp/modes.weights.h5", "val_fp", mode="min", save_best_only=True, save_weights_only=True),
        keras.callbacks.ModelCheckpoint("/tmp/each.weights.h5", "loss", mode="max", save_weights_only=True),
    ],
    verbose=0,
)
