import numpy as np
import tensorflow as tf

class Encoder(tf.keras.Model):
    def __init__(self, vocab, dim):
        self.emb = tf.keras.layers.Embedding(vocab, dim)
        self.rnn = tf.keras.layers.GRU(dim)
        self.out = tf.keras.layers.Dense(1, activation="sigmoid")
        super(Encoder, self).__init__()

    def call(self, x):
        return self.out(self.rnn(self.emb(x)))

m = Encoder(50, 8)
m.compile("adam", "binary_crossentropy")
m.fit(np.random.randint(0, 50, (20, 6)), np.random.randint(0, 2, 20), epochs=1, verbose=0)
