import numpy as np, keras
x, y = np.random.rand(50, 4), np.random.randint(0, 3, 50)
m = keras.Sequential([keras.layers.Dense(3, activation="softmax")])
m.compile(optimizer="adam", loss="sparse_categorical_cross_entropy", metrics=["accuracy"])  # <- FIT302
m.fit(x, y)
