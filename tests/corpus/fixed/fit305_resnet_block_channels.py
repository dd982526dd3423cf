import keras
import numpy as np
from keras import layers


def residual_block(x, filters):
    shortcut = layers.Conv2D(filters, 1, padding="same")(x)
    y = layers.Conv2D(filters, 3, padding="same", use_bias=False)(x)
    y = layers.BatchNormalization()(y)
    y = layers.ReLU()(y)
    y = layers.Conv2D(filters, 3, padding="same")(y)
    y = layers.Add()([shortcut, y])
    return layers.ReLU()(y)


def build_resnet(input_shape, n_classes, stages=(8, 16)):
    inputs = keras.Input(input_shape)
    x = layers.Conv2D(stages[0], 3, padding="same", activation="relu")(inputs)
    for filters in stages:
        x = residual_block(x, filters)
        x = layers.MaxPooling2D()(x)
    x = layers.GlobalAveragePooling2D()(x)
    return keras.Model(inputs, layers.Dense(n_classes)(x))


def main():
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 3, 96)
    images = rng.random((96, 12, 12, 3)) * 0.3
    images[np.arange(96), :, :, labels] += 0.5
    model = build_resnet((12, 12, 3), 3)
    model.compile(
        optimizer="adam",
        loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        metrics=["accuracy"],
    )
    model.fit(images, labels, batch_size=16, epochs=1, verbose=2)


if __name__ == "__main__":
    main()
