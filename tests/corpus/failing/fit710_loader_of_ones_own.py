import math
import numpy as np
import tensorflow as tf


class Loader:  # <- FIT710
    """yields (x, y) batches, same interface as in our torch code"""

    def __init__(self, x, y, bs):
        self.x, self.y, self.bs = x, y, bs

    def __len__(self):
        return math.ceil(len(self.x) / self.bs)

    def __getitem__(self, i):
        s = slice(i * self.bs, (i + 1) * self.bs)
        return self.x[s], self.y[s]


def main():
    x, y = np.random.rand(100, 4).astype('float32'), np.random.rand(100, 1).astype('float32')
    train_loader = Loader(x, y, 10)
    model = tf.keras.Sequential([tf.keras.layers.Dense(8, activation='relu'), tf.keras.layers.Dense(1)])
    model.compile(optimizer='adam', loss='mse')
    model.fit(train_loader, epochs=2)  # <~ FIT710


if __name__ == '__main__':
    main()
