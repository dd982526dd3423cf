import keras
import numpy as np
from keras import layers

rng = np.random.default_rng(4)
x = rng.normal(size=(200, 12)).astype("float32")
y = np.digitize(x[:, 0] + x[:, 1], [-0.6, 0.6])


def feature_net():
    inputs = keras.Input((12,))
    h = layers.Dense(24, activation="relu")(inputs)
    return keras.Model(inputs, layers.Dense(12, activation="relu")(h))


def transfer(features, n_classes):
    out = layers.Dense(n_classes, activation="softmax", name="new_head")(features.output)
    model = keras.Model(features.input, out)
    for layer in model.layers:  # <- FIT311
        layer.trainable = False
    model.compile(
        optimizer=keras.optimizers.Adam(1e-3),
        loss=keras.losses.SparseCategoricalCrossentropy(),
        metrics=["accuracy"],
    )
    return model


if __name__ == "__main__":
    model = transfer(feature_net(), 3)
    history = model.fit(x, y, epochs=3, batch_size=20, verbose=0)
    print([round(v, 3) for v in history.history["loss"]])
