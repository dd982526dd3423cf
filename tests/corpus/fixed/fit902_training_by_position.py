"""By name."""

import numpy as np
import tensorflow as tf


class Encoder(tf.keras.layers.Layer):
    def __init__(self, width, heads, rate=0.1):
        super().__init__()
        self.attention = tf.keras.layers.MultiHeadAttention(heads, width)
        self.norm = tf.keras.layers.LayerNormalization()
        self.dropout = tf.keras.layers.Dropout(rate)

    def call(self, x, training, mask):
        attended = self.attention(x, x, x, attention_mask=mask)
        return self.norm(x + self.dropout(attended, training=training))


class Classifier(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.embed = tf.keras.layers.Embedding(50, 16)
        self.encoder = Encoder(16, 2)
        self.head = tf.keras.layers.Dense(2, activation="softmax")

    def call(self, tokens, training=False):
        encoded = self.encoder(self.embed(tokens), training=training, mask=None)
        return self.head(tf.reduce_mean(encoded, axis=1))


model = Classifier()
model.compile(optimizer="adam", loss="sparse_categorical_crossentropy")
rng = np.random.default_rng(0)
model.fit(rng.integers(0, 50, (32, 9)), rng.integers(0, 2, 32), epochs=1, verbose=0)
