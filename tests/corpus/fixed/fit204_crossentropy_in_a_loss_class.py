import keras
import numpy as np


class FocalWrapper(keras.losses.Loss):
    def __init__(self, gamma=2.0, name="focal_wrapper"):
        super().__init__(name=name)
        self.gamma = gamma

    def call(self, y_true, y_pred):
        ce = keras.losses.binary_crossentropy(y_true, y_pred)
        p = keras.ops.exp(-ce)
        return keras.ops.power(1 - p, self.gamma) * ce


x = np.random.normal(size=(320, 6)).astype("float32")
y = np.reshape((x[:, 0] > 0).astype("float32"), (-1, 1))

model = keras.Sequential([keras.layers.Dense(8, activation="relu"), keras.layers.Dense(1, activation="sigmoid")])
model.compile(optimizer="sgd", loss=FocalWrapper(), metrics=["accuracy"])
model.fit(x, y, batch_size=16, epochs=2)
