import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

IMG = 32


def conv_block(x, filters):
    x = layers.Conv2D(filters, 3, padding="same", activation="relu")(x)
    return layers.Conv2D(filters, 3, padding="same", activation="relu")(x)


def unet(base=8):
    inputs = layers.Input((IMG, IMG, 1))
    c1 = conv_block(inputs, base)
    p1 = layers.MaxPooling2D()(c1)
    c2 = conv_block(p1, base * 2)
    p2 = layers.MaxPooling2D()(c2)
    c3 = conv_block(p2, base * 4)
    u2 = layers.UpSampling2D()(c3)
    c4 = conv_block(layers.Concatenate()([u2, c2]), base * 2)
    u1 = layers.UpSampling2D()(c4)
    c5 = conv_block(layers.Concatenate()([u1, c1]), base)
    mask = layers.Conv2D(1, 1, activation="sigmoid")(c5)
    return tf.keras.Model(inputs, mask)


def blobs(n):
    rng = np.random.default_rng(4)
    imgs, masks = [], []
    yy, xx = np.mgrid[:IMG, :IMG]
    for _ in range(n):
        cy, cx, r = rng.uniform(8, IMG - 8, 2).tolist() + [rng.uniform(3, 7)]
        m = ((yy - cy) ** 2 + (xx - cx) ** 2 < r * r).astype("float32")
        imgs.append(0.6 * m + 0.4 * rng.random((IMG, IMG)))
        masks.append(m)
    return np.array(imgs, "float32")[..., None], np.array(masks)[..., None]


x, y = blobs(48)
model = unet()
model.compile("adam", "binary_crossentropy")
model.fit(x, y, batch_size=12, epochs=1, verbose=2)
