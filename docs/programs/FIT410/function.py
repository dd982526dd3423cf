"""`add_loss(lambda: …)` raises `ValueError: add_loss() can only be called from inside build() or call(), on a tensor
input`.
"""

import keras

layer = keras.layers.Dense(1)
try:
    layer.add_loss(lambda: 0.0)
except ValueError as error:
    assert "`add_loss()` can only be called from inside `build()` or `call()`, on a tensor input" in str(
        error
    )
else:
    raise AssertionError("it must raise")
