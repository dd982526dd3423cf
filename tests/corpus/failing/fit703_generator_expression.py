import numpy as np
import keras

data = [(np.random.rand(8, 3).astype("float32"), np.random.rand(8, 1).astype("float32")) for _ in range(6)]
train = ((bx, by) for bx, by in data)  # <- FIT703
model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(1)])
model.compile("sgd", "mse")
model.fit(train, epochs=4)  # <~ FIT703
