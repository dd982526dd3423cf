import numpy as np, keras
X = np.random.rand(90, 5); y = np.random.randint(0, 3, 90)
m = keras.Sequential([keras.layers.Dense(8, activation="relu"), keras.layers.Dense(1, activation="sigmoid")])  # <~ FIT208
m.compile("adam", "binary_crossentropy", metrics=["accuracy"])  # <- FIT208
m.fit(X, y, epochs=1, verbose=0)
