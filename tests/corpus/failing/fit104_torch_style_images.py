"""Port of a PyTorch classifier to Keras."""
import numpy as np
import keras
from keras import layers


def torch_style_dataset(n, classes=4, size=24, seed=0):
    rng = np.random.default_rng(seed)
    targets = rng.integers(0, classes, n)
    imgs = rng.random((n, 3, size, size)).astype("float32") * 0.3  # <~ FIT104
    for img, t in zip(imgs, targets):
        img[t % 3, (t // 3) * 8:(t // 3) * 8 + 8] += 0.7
    return imgs, targets


def conv_block(x, filters):
    x = layers.Conv2D(filters, 3, padding="same", use_bias=False)(x)
    x = layers.BatchNormalization()(x)
    return layers.ReLU()(x)


def build(size=24, classes=4):
    inputs = keras.Input((size, size, 3))  # <~ FIT104
    x = conv_block(inputs, 8)
    x = layers.MaxPooling2D()(x)
    x = conv_block(x, 16)
    x = layers.GlobalAveragePooling2D()(x)
    return keras.Model(inputs, layers.Dense(classes, activation="softmax")(x))


train_x, train_t = torch_style_dataset(160)
valid_x, valid_t = torch_style_dataset(40, seed=9)

model = build()
model.compile(keras.optimizers.AdamW(1e-3), "sparse_categorical_crossentropy", metrics=["accuracy"])
model.fit(train_x, train_t, batch_size=32, epochs=2, validation_data=(valid_x, valid_t))  # <- FIT104
