"""`object of type 'zip' has no len()`"""

import keras
import tensorflow as tf

weight = keras.Variable(1.0)
with tf.GradientTape() as tape:
    loss = weight * 2.0
try:
    keras.optimizers.SGD().apply(zip(tape.gradient(loss, [weight]), [weight], strict=True))
except TypeError as error:
    assert "object of type 'zip' has no len()" in str(error)
else:
    raise AssertionError("it must raise")
