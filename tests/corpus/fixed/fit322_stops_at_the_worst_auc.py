import numpy as np
from tensorflow import keras


def stopping(patience):
    return keras.callbacks.EarlyStopping(
        monitor="val_auc",
        mode="max",
        patience=patience,
        restore_best_weights=True,
    )


keras.utils.set_random_seed(0)
x = np.random.default_rng(0).normal(size=(300, 6)).astype("float32")
y = (x[:, 0] > 0.3).astype("float32")
model = keras.Sequential([keras.Input((6,)), keras.layers.Dense(8, activation="relu"), keras.layers.Dense(1, activation="sigmoid")])
model.compile("adam", "binary_crossentropy", metrics=[keras.metrics.AUC(name="auc")])
model.fit(x, y, validation_split=0.3, epochs=6, callbacks=[stopping(2)], verbose=0)
