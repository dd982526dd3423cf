import numpy as np, tensorflow as tf
T, V, K = 10, 50, 5
X = np.random.randint(0, V, (40, T)); Y = np.random.randint(0, K, (40, T))
m = tf.keras.Sequential([tf.keras.layers.Embedding(V, 8), tf.keras.layers.LSTM(8, return_sequences=True), tf.keras.layers.Dense(K, activation="softmax")])
m.compile("adam", "sparse_categorical_crossentropy")
m.fit(X, Y, epochs=1)
