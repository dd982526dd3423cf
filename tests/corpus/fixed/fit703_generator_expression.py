import numpy as np
import keras

data = [(np.random.rand(8, 3).astype("float32"), np.random.rand(8, 1).astype("float32")) for _ in range(6)]
train = ((bx, by) for _ in range(4) for bx, by in data)
model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(1)])
model.compile("sgd", "mse")
model.fit(train, epochs=4, steps_per_epoch=6)
