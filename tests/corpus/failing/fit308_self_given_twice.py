import numpy as np
import tensorflow as tf

text = "First Citizen: Before we proceed any further, hear me speak. " * 40
vocab = sorted(set(text))
char2idx = {c: i for i, c in enumerate(vocab)}
ids = np.array([char2idx[c] for c in text])
seq_length = 20
ds = tf.data.Dataset.from_tensor_slices(ids).batch(seq_length + 1, drop_remainder=True)
ds = ds.map(lambda s: (s[:-1], s[1:])).shuffle(100).batch(8, drop_remainder=True)


class MyModel(tf.keras.Model):
    def __init__(self, vocab_size, embedding_dim, rnn_units):
        super().__init__(self)  # <- FIT308
        self.embedding = tf.keras.layers.Embedding(vocab_size, embedding_dim)
        self.gru = tf.keras.layers.GRU(rnn_units, return_sequences=True, return_state=True)
        self.dense = tf.keras.layers.Dense(vocab_size)

    def call(self, inputs, states=None, return_state=False, training=False):
        x = self.embedding(inputs, training=training)
        x, states = self.gru(x, initial_state=states, training=training)
        x = self.dense(x, training=training)
        return (x, states) if return_state else x


model = MyModel(len(vocab), 16, 32)
model.compile(optimizer='adam', loss=tf.losses.SparseCategoricalCrossentropy(from_logits=True))
model.fit(ds, epochs=1)
