import keras
import numpy as np
from keras import layers, ops


class MaskedMean(layers.Layer):
    def __init__(self, rate=0.1, **kwargs):
        super().__init__(**kwargs)
        self.supports_masking = True
        self.drop = layers.Dropout(rate)

    def call(self, x, mask=None, training=None):
        x = self.drop(x, training=training)
        if mask is None:
            return ops.mean(x, axis=1)
        m = ops.cast(mask, x.dtype)[..., None]
        return ops.sum(x * m, axis=1) / (ops.sum(m, axis=1) + 1e-6)

    def compute_mask(self, inputs, mask=None):
        return None


rng = np.random.default_rng(3)
lengths = rng.integers(3, 12, 160)
tokens = rng.integers(1, 60, (160, 12))
tokens[np.arange(12) >= lengths[:, None]] = 0
label = (tokens > 30).sum(axis=1) > lengths / 2

model = keras.Sequential([
    keras.Input((12,), dtype="int32"),
    layers.Embedding(60, 8, mask_zero=True),
    MaskedMean(),
    layers.Dense(1, activation="sigmoid"),
])
model.compile("adam", "binary_crossentropy", metrics=["accuracy"])
model.fit(tokens, label.astype("float32"), epochs=2, batch_size=20, verbose=2)
