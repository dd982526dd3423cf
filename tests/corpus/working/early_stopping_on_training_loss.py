import keras
import numpy as np

rng = np.random.default_rng(1)
x = rng.normal(size=(128, 4)).astype("float32")
y = np.cos(x[:, 0])

model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(16, activation="relu"), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse", metrics=["mae"])
# no validation data here, and none is monitored
stop = keras.callbacks.EarlyStopping(monitor="loss", min_delta=1e-4, patience=2)
plateau = keras.callbacks.ReduceLROnPlateau(monitor="mae", factor=0.5, patience=2)
hist = model.fit(x, y, epochs=4, batch_size=16, callbacks=[stop, plateau], verbose=0)
print(hist.history["mae"])
