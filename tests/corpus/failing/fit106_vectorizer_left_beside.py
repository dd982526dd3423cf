import numpy as np
import tensorflow as tf
texts = np.array(["a b c", "b c d", "c d e", "d e f"] * 8)  # <~ FIT106
labels = np.array([0, 1, 0, 1] * 8)
vec = tf.keras.layers.TextVectorization(max_tokens=20, output_sequence_length=4)
vec.adapt(texts)
model = tf.keras.Sequential([
    tf.keras.layers.Embedding(20, 8),
    tf.keras.layers.GlobalAveragePooling1D(),
    tf.keras.layers.Dense(1, activation="sigmoid"),
])
model.compile("adam", "binary_crossentropy")
model.fit(texts, labels, epochs=1, verbose=0)  # <- FIT106
