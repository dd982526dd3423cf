import numpy as np, keras
i = keras.Input((5,)); h = keras.layers.Dense(8, activation="relu", name="feat")(i)
a = keras.layers.Dense(1, name="score")(h); b = keras.layers.Dense(4, name="embedding")(h)
m = keras.Model(i, {"score": a, "embedding": b})
m.compile("adam", loss={"score": "mse"})
m.fit(np.random.rand(40, 5), {"score": np.random.rand(40)}, epochs=1, verbose=0)
