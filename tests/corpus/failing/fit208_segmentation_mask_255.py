import numpy as np
import tensorflow as tf
from tensorflow.keras.layers import Conv2D, Input
from tensorflow.keras.models import Model

SIZE = 16


def disc_scene(rng):
    yy, xx = np.mgrid[:SIZE, :SIZE]
    cy, cx, r = rng.uniform(5, 11), rng.uniform(5, 11), rng.uniform(2, 5)
    inside = (yy - cy) ** 2 + (xx - cx) ** 2 < r ** 2
    img = rng.integers(0, 60, (SIZE, SIZE)) + inside * 150
    return img.astype("uint8"), (inside * 255).astype("uint8")


def load_pairs(n, seed=0):
    rng = np.random.default_rng(seed)
    pairs = [disc_scene(rng) for _ in range(n)]
    imgs = np.stack([p[0] for p in pairs])[..., None].astype("float32") / 255.0
    masks = np.stack([p[1] for p in pairs])[..., None].astype("float32")  # <- FIT208
    return imgs, masks


imgs, masks = load_pairs(80)
inp = Input((SIZE, SIZE, 1))
x = Conv2D(8, 3, padding="same", activation="relu")(inp)
x = Conv2D(8, 3, padding="same", activation="relu")(x)
out = Conv2D(1, 1, activation="sigmoid")(x)
unet_ish = Model(inp, out)
unet_ish.compile(optimizer="adam", loss="binary_crossentropy")
unet_ish.fit(imgs, masks, epochs=2, batch_size=8, verbose=2)
