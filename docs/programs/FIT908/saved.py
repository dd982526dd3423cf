"""`TypeError: Could not locate function 'dice_loss'` or `Could not locate class 'Attention'`

`NotImplementedError: Object Patches was created by passing non-serializable argument values in __init__()`
"""

import tempfile
from pathlib import Path

import keras

folder = Path(tempfile.mkdtemp())


def dice_loss(y_true, y_pred):
    return keras.ops.mean(y_true * y_pred)


class Attention(keras.layers.Layer):
    def call(self, inputs):
        return inputs


class Patches(keras.layers.Layer):
    def __init__(self, sizes):
        super().__init__()
        self.sizes = sizes

    def call(self, inputs):
        return inputs


def raised(layer, loss):
    model = keras.Sequential([keras.Input((3,)), layer])
    model.compile("sgd", loss)
    try:
        model.save(folder / "model.keras")
        keras.models.load_model(folder / "model.keras")
    except (TypeError, NotImplementedError) as error:
        return str(error)
    return ""


assert "Could not locate function 'dice_loss'" in raised(keras.layers.Dense(1), dice_loss)
assert "Could not locate class 'Attention'" in raised(Attention(), "mse")
message = " ".join(raised(Patches(object()), "mse").split())
assert "Object Patches was created by passing non-serializable argument values in `__init__()`" in message
