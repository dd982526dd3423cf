import numpy as np
from tensorflow.keras import layers, models, utils

T, V, K = 15, 200, 6
words = np.random.randint(1, V, (90, T))
tags = np.array([utils.to_categorical(row, num_classes=K) for row in np.random.randint(0, K, (90, T))])

inp = layers.Input((T,))
h = layers.Embedding(V, 20, mask_zero=True)(inp)
h = layers.Bidirectional(layers.LSTM(16))(h)  # <- FIT205
out = layers.Dense(K, activation='softmax')(h)
tagger = models.Model(inp, out)
tagger.compile('rmsprop', 'categorical_crossentropy', metrics=['accuracy'])
tagger.fit(words, tags, batch_size=16, epochs=1)
