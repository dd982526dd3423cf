import numpy as np
import tensorflow as tf

x = np.random.rand(60, 4)
y = np.random.randint(1, 4, 60)  # <- FIT203
m = tf.keras.Sequential([tf.keras.layers.Dense(3, activation="softmax", input_shape=(4,))])  # <~ FIT203
m.compile("adam", "sparse_categorical_crossentropy")
m.fit(x, y, epochs=1)
