import numpy as np, keras
i = keras.Input((3,)); o1 = keras.layers.Dense(1, name="a")(i); o2 = keras.layers.Dense(1, name="b")(i)
m = keras.Model(i, [o1, o2])
m.compile("adam", ["mse", "mae"], [1.0, 0.5])
m.fit(np.random.rand(30, 3), [np.random.rand(30), np.random.rand(30)], epochs=1, verbose=0)
m.compile("adam", {"a": "mse", "b": "mae"}, {"a": 0.7, "b": 0.3}, {"a": ["mae"]})
m.fit(np.random.rand(30, 3), {"a": np.random.rand(30), "b": np.random.rand(30)}, epochs=1, verbose=0)
