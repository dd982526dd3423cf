import keras
import numpy as np
from keras import layers


class ImageSequence(keras.utils.PyDataset):
    def __init__(self, images, labels=None, batch_size=16):
        super().__init__()
        self.images, self.labels, self.batch_size = images, labels, batch_size

    def __len__(self):
        return -(-len(self.images) // self.batch_size)

    def __getitem__(self, i):
        part = slice(i * self.batch_size, (i + 1) * self.batch_size)
        if self.labels is None:             # at prediction time
            return (self.images[part],)
        return self.images[part], self.labels[part]


rng = np.random.default_rng(3)
labels = rng.integers(0, 2, 128)
images = rng.random((128, 10, 10, 1)).astype("float32") * 0.5 + 0.4 * labels[:, None, None, None].astype("float32")

train = ImageSequence(images)  # <- FIT215
model = keras.Sequential([
    keras.Input((10, 10, 1)),
    layers.Conv2D(4, 3, activation="relu"),
    layers.Flatten(),
    layers.Dense(1, activation="sigmoid"),
])
model.compile("adam", "binary_crossentropy", metrics=["accuracy"])
model.fit(train, epochs=2, verbose=2)
