import numpy as np
import tensorflow as tf

rng = np.random.default_rng(0)
X = rng.normal(size=(256, 8)).astype("float32")
y = (X @ rng.normal(size=8)).astype("float32")

model = tf.keras.Sequential([
    tf.keras.layers.Input((8,)),
    tf.keras.layers.Dense(32),
    tf.keras.layers.Dense(32),
    tf.keras.layers.Dense(1),
])
model.compile(optimizer=tf.keras.optimizers.SGD(learning_rate=1.0), loss="mse")  # <- FIT001
history = model.fit(X, y, epochs=3, batch_size=16, verbose=2)
print(history.history["loss"])
