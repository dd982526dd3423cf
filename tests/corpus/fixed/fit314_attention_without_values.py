"""A classifier of token sequences whose attention is called like any other layer."""

import numpy as np
from tensorflow import keras
from tensorflow.keras import layers


class Block(layers.Layer):
    def __init__(self, width, heads):
        super().__init__()
        self.attention = layers.MultiHeadAttention(num_heads=heads, key_dim=width)
        self.norm = layers.LayerNormalization()

    def call(self, tokens):
        mixed = self.attention(tokens, tokens)
        return self.norm(tokens + mixed)


tokens = layers.Input((12,))
x = layers.Embedding(50, 8)(tokens)
x = Block(8, 2)(x)
x = layers.GlobalAveragePooling1D()(x)
model = keras.Model(tokens, layers.Dense(1, activation="sigmoid")(x))
model.compile(optimizer="adam", loss="binary_crossentropy")
model.fit(np.random.randint(0, 50, (32, 12)), np.random.randint(0, 2, 32), epochs=1, verbose=0)
