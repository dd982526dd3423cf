import numpy as np
import tensorflow as tf

model = tf.keras.Sequential([tf.keras.Input((4,)), tf.keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
model.fit(np.random.rand(32, 4), np.random.rand(32), epochs=1, verbose=2)
state = model.optimizer.get_weights()  # <- FIT902
print("saved", len(state), "arrays of the optimizer")
