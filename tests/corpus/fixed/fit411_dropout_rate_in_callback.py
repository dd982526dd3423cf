import numpy as np, keras
m = keras.Sequential([keras.Input((4,)), keras.layers.Dropout(0.1), keras.layers.Dense(1)])
x, y = np.random.rand(32, 4), np.random.rand(32)
for epoch in range(2):
    for layer in m.layers:
        if isinstance(layer, keras.layers.Dropout):
            layer.rate = min(0.5, 0.1 * epoch)
    m.compile("adam", "mse")
    m.fit(x, y, verbose=0)
