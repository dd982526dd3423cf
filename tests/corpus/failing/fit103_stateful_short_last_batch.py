import numpy as np, keras
BATCH = 32
x = np.random.rand(100, 6, 2); y = np.random.rand(100)  # <~ FIT103
i = keras.Input(batch_shape=(BATCH, 6, 2))  # <- FIT103
o = keras.layers.Dense(1)(keras.layers.LSTM(4, stateful=True)(i))
m = keras.Model(i, o)
m.compile("adam", "mse")
m.fit(x, y, batch_size=BATCH, epochs=1, shuffle=False, verbose=0)  # <~ FIT103
