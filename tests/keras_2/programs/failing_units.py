import numpy as np
import tensorflow as tf

x = np.random.rand(60, 4)
y = tf.keras.utils.to_categorical(np.random.randint(0, 4, 60))
m = tf.keras.Sequential()
m.add(tf.keras.layers.Dense(8, input_shape=(4,)))
m.add(tf.keras.layers.Dense(3, activation="softmax"))  # <- FIT205
m.compile("adam", "categorical_crossentropy")
m.fit(x, y, epochs=1)
