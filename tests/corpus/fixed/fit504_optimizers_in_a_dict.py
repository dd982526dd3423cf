import numpy as np
from tensorflow import keras

optimizers = {"adam": lambda: keras.optimizers.Adam(1e-3), "sgd": lambda: keras.optimizers.SGD(1e-2, momentum=0.9)}
X, y = np.random.rand(40, 4), np.random.rand(40)
for units in (4, 8):
    for name, opt in optimizers.items():
        m = keras.Sequential([keras.Input((4,)), keras.layers.Dense(units, activation="relu"), keras.layers.Dense(1)])
        m.compile(optimizer=opt(), loss="mse")
        print(name, units, m.fit(X, y, verbose=0).history["loss"])
