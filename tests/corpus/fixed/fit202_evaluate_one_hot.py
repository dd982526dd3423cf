import numpy as np, tensorflow as tf
x = np.random.rand(100, 6); y = np.random.randint(0, 3, 100)
xt = np.random.rand(20, 6)
yt = np.random.randint(0, 3, 20)
m = tf.keras.Sequential([tf.keras.layers.Dense(3, activation="softmax")])
m.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
m.fit(x, y, epochs=1, verbose=0)
m.evaluate(xt, yt)
