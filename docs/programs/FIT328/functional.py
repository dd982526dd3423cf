"""`ValueError: The name "hidden" is used 2 times in the model. All operation names should be unique`"""

import keras

inputs = keras.Input((3,))
x = keras.layers.Dense(4, name="hidden")(inputs)
try:
    keras.Model(inputs, keras.layers.Dense(1, name="hidden")(x))
except ValueError as error:
    assert 'The name "hidden" is used 2 times in the model. All operation names should be unique' in str(
        error
    )
else:
    raise AssertionError("it must raise")
