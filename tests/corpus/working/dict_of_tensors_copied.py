"""A layer receives a dict of tensors and passes it to a helper, which copies the dict."""

import keras
import numpy as np
from keras import ops


def to_dense(boxes):
    boxes = boxes.copy()
    boxes["classes"] = ops.cast(boxes["classes"], "float32")
    return boxes


class Merge(keras.layers.Layer):
    def call(self, inputs):
        dense = to_dense(inputs)
        return ops.concatenate([dense["boxes"], dense["classes"]], axis=-1)


rng = np.random.default_rng(0)
x = {"boxes": rng.random((64, 4)).astype("float32"), "classes": rng.integers(0, 3, (64, 1))}
y = rng.random((64, 1)).astype("float32")

inputs = {
    "boxes": keras.Input((4,), name="boxes"),
    "classes": keras.Input((1,), dtype="int32", name="classes"),
}
model = keras.Model(inputs, keras.layers.Dense(1)(Merge()(inputs)))
model.compile("adam", "mse")
model.fit(x, y, epochs=1, verbose=0)
