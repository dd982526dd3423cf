import numpy as np, tensorflow as tf


class Batches:
    def __init__(self, x, y, n=16):
        self.x, self.y, self.n = x, y, n

    def __len__(self):
        return len(self.x) // self.n

    def __getitem__(self, i):
        if i >= len(self):
            raise IndexError
        return self.x[i * self.n:(i + 1) * self.n], self.y[i * self.n:(i + 1) * self.n]


class Trainer:
    def __init__(self, model):
        self.model = model

    def fit(self, batches, epochs=1):
        for _ in range(epochs):
            for i in range(len(batches)):
                xb, yb = batches[i]
                self.model.train_on_batch(xb, yb)


model = tf.keras.Sequential([tf.keras.layers.Dense(4, activation='relu'), tf.keras.layers.Dense(1)])
model.compile('adam', 'mse')
trainer = Trainer(model)
trainer.fit(Batches(np.random.rand(64, 3), np.random.rand(64, 1)), epochs=2)


class Arrays(tf.keras.utils.PyDataset):
    def __init__(self, inner):
        super().__init__()
        self.inner = inner

    def __len__(self):
        return len(self.inner)

    def __getitem__(self, i):
        return self.inner[i]


model.fit(Arrays(Batches(np.random.rand(64, 3), np.random.rand(64, 1))), epochs=1, verbose=0)
it = iter(tf.data.Dataset.from_tensor_slices((np.random.rand(64, 3), np.random.rand(64, 1))).batch(8))
xb, yb = next(it)
model.fit(xb, yb, verbose=0)
