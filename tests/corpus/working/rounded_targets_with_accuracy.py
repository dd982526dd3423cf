import numpy as np, keras
x = np.random.rand(200, 4)
raw = x @ np.random.rand(4) * 3
y = np.clip(np.round(raw), 0, 1)
m = keras.Sequential([keras.Input((4,)), keras.layers.Dense(1, activation='sigmoid')])
m.compile('adam', 'mse', metrics=['accuracy'])
m.fit(x, y, epochs=1, verbose=0)
z = np.random.rand(200)
z = np.array([1.0 if v > 0.5 else 0.0 for v in z])
m.fit(x, z, epochs=1, verbose=0)
z2 = np.random.uniform(size=200)
z2[z2 >= 0.5] = 1.0
z2[z2 < 0.5] = 0.0
m.fit(x, z2, epochs=1, verbose=0)
z3 = (np.random.randn(200) > 0) * 1.0
m.fit(x, z3, epochs=1, verbose=0)
z4 = np.sign(np.random.randn(200)) / 2 + 0.5
m.fit(x, z4, epochs=1, verbose=0)
