"""`property 'model' of 'History' object has no setter`"""

import keras


class History(keras.callbacks.Callback):
    def __init__(self, model):
        super().__init__()
        self.model = model


try:
    History(keras.Sequential())
except AttributeError as error:
    assert "property 'model' of 'History' object has no setter" in str(error)
else:
    raise AssertionError("it must raise")
