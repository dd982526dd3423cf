"""shuffle after batch, on purpose: the rows of a batch belong together (one query's documents), the queries are shuffled."""
import numpy as np
import tensorflow as tf

rng = np.random.default_rng(0)
docs = rng.normal(size=(60 * 8, 3)).astype("float32")
rel = docs @ np.float32([1, 2, 0])
queries = tf.data.Dataset.from_tensor_slices((docs, rel)).batch(8).shuffle(60)

def listwise(y, s):
    y = tf.reshape(y, (-1,))
    return -tf.reduce_sum(tf.nn.softmax(y) * tf.nn.log_softmax(tf.reshape(s, tf.shape(y))))

m = tf.keras.Sequential([tf.keras.layers.Dense(1, use_bias=False)])
m.compile(tf.keras.optimizers.Adam(0.05), listwise)
m.fit(queries, epochs=40, verbose=0)
s = m.predict(docs, verbose=0).ravel().reshape(60, 8)
top = (s.argmax(1) == rel.reshape(60, 8).argmax(1)).mean()
print(top)
