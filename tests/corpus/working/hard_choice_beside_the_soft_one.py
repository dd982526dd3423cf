import numpy as np
import tensorflow as tf
inp = tf.keras.Input((6,))
p = tf.keras.layers.Dense(4, activation="softmax", name="p")(inp)
hard = tf.keras.layers.Lambda(lambda t: tf.argmax(t, axis=-1), name="hard")(p)
m = tf.keras.Model(inp, {"p": p, "hard": hard})
m.compile("adam", {"p": "sparse_categorical_crossentropy"})
m.fit(np.random.rand(16, 6), {"p": np.random.randint(0, 4, 16)}, verbose=0)
inf = tf.keras.Model(inp, hard)
print(inf.predict(np.random.rand(2, 6), verbose=0))
