import tensorflow as tf
import numpy as np

tf.random.set_seed(0)
n = 240
t = np.linspace(0, 8 * np.pi, n + 10)
wave = (np.sin(t) + 0.1 * np.random.default_rng(0).normal(size=t.size)).astype("float32")
X = np.stack([wave[i:i + 10] for i in range(n)])
y = wave[10:10 + n]

model = tf.keras.Sequential([
    tf.keras.layers.Input((10,)),
    tf.keras.layers.Dense(20, activation="relu"),
    tf.keras.layers.Dense(1),
])
model.compile(optimizer="adam", loss="mse", metrics=["mae"])

callbacks = [
    tf.keras.callbacks.ReduceLROnPlateau(monitor="val_mae", mode="min", factor=0.5, patience=2),
    tf.keras.callbacks.EarlyStopping(monitor="val_loss", patience=5, restore_best_weights=True),
]
model.fit(X[:200], y[:200], validation_data=(X[200:], y[200:]), epochs=4, callbacks=callbacks, verbose=2)
