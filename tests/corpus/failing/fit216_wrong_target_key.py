import keras
import numpy as np
from keras import layers


def scenes(n=160):
    rng = np.random.default_rng(10)
    kind = rng.integers(0, 3, n)
    box = rng.random((n, 4)).astype("float32")
    feats = np.concatenate([np.eye(3)[kind] + rng.normal(0, 0.1, (n, 3)), box + rng.normal(0, 0.02, (n, 4))], axis=1)
    return feats.astype("float32"), kind, box


def detector(dim):
    inp = keras.Input((dim,), name="feats")
    h = layers.Dense(32, activation="relu")(inp)
    cls = layers.Dense(3, activation="softmax", name="kind")(h)
    box = layers.Dense(4, name="box")(h)
    return keras.Model(inp, {"kind": cls, "box": box})


feats, kind, box = scenes()
model = detector(feats.shape[1])
model.compile(optimizer="adam",
              loss={"kind": "sparse_categorical_crossentropy", "box": "mse"},
              loss_weights={"kind": 1.0, "box": 5.0})
targets = {"class": kind, "box": box}  # <- FIT216
model.fit(feats, targets, epochs=2, batch_size=16, verbose=2)
