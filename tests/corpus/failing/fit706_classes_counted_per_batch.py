import numpy as np, tensorflow as tf
class DataGen(tf.keras.utils.Sequence):
    def __init__(self, x, y, bs):
        self.x, self.y, self.bs = x, y, bs
        self.idx = np.arange(len(x))
    def __len__(self):
        return int(np.ceil(len(self.x) / self.bs))
    def __getitem__(self, i):
        ids = self.idx[i * self.bs:(i + 1) * self.bs]
        return self.x[ids], tf.keras.utils.to_categorical(self.y[ids])  # <- FIT706
    def on_epoch_end(self):
        np.random.shuffle(self.idx)
x = np.random.rand(50, 4); y = np.sort(np.arange(50) % 6)[::-1]
m = tf.keras.Sequential([tf.keras.layers.Dense(6, activation="softmax")])
m.compile("adam", "categorical_crossentropy")
m.fit(DataGen(x, y, 4), epochs=3, shuffle=False)
