"""Endless generators of a class, with steps for training and validation."""

import numpy as np
import tensorflow as tf
class ImageGen:
    def __init__(self, n, bs):
        self.x = np.random.rand(n, 12, 12, 3).astype('float32'); self.y = np.random.randint(0, 2, n); self.bs = bs
    def __len__(self):
        return -(-len(self.x) // self.bs)
    def flow(self):
        while 1:
            order = np.random.permutation(len(self.x))
            for i in range(len(self)):
                ix = order[i * self.bs:(i + 1) * self.bs]
                yield self.x[ix], self.y[ix]
tr, va = ImageGen(50, 8), ImageGen(20, 8)
m = tf.keras.Sequential([tf.keras.layers.Conv2D(4, 3, activation='relu', input_shape=(12, 12, 3)), tf.keras.layers.Flatten(), tf.keras.layers.Dense(1, activation='sigmoid')])
m.compile('adam', 'binary_crossentropy', metrics=['accuracy'])
m.fit(tr.flow(), steps_per_epoch=len(tr), validation_data=va.flow(), validation_steps=len(va), epochs=2, verbose=0)
