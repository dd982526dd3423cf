"""Lengths as third part."""

import numpy as np
import tensorflow as tf
import keras
from keras import layers
keras.utils.set_random_seed(1)

from keras.utils import pad_sequences
seqs = [np.random.randint(1, 50, size=n) for n in np.random.randint(3, 12, 80)]
x = pad_sequences(seqs, maxlen=12)
lengths = np.array([len(s) for s in seqs])
y = np.random.randint(0, 2, 80)
ds = tf.data.Dataset.from_tensor_slices((x, y, lengths)).batch(16)  # <- FIT214
model = keras.Sequential([layers.Embedding(50, 8), layers.GlobalAveragePooling1D(), layers.Dense(1, activation="sigmoid")])
model.compile("adam", "binary_crossentropy")
model.fit(ds, epochs=2, verbose=0)
