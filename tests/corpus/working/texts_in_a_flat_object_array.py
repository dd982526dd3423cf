import numpy as np, tensorflow as tf
texts = np.array(["a b c", "b c d", "c d e"] * 10, dtype=object)
labels = np.array([0, 1, 0] * 10)
vec = tf.keras.layers.TextVectorization(max_tokens=50, output_sequence_length=5)
vec.adapt(texts)
m = tf.keras.Sequential([vec, tf.keras.layers.Embedding(50, 4), tf.keras.layers.GlobalAveragePooling1D(), tf.keras.layers.Dense(1, activation="sigmoid")])
m.compile("adam", "binary_crossentropy")
m.fit(texts, labels, epochs=1)
