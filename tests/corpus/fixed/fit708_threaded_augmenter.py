import numpy as np
import tensorflow as tf


class AugmentedImages(tf.keras.utils.PyDataset):
    """Serves augmented crops; the augmentation is a Python generator."""

    def __init__(self, images, labels, batch_size, **kwargs):
        super().__init__(**kwargs)
        self.images, self.labels, self.batch_size = images, labels, batch_size
        self._stream = self._augment_forever()

    def _augment_forever(self):
        rng = np.random.default_rng(1)
        while True:
            pick = rng.choice(len(self.images), self.batch_size, replace=False)
            batch = self.images[pick]
            for _ in range(200):                    # slow, CPU-bound augmentation
                batch = np.clip(batch + rng.normal(0, 0.002, batch.shape), 0, 1)
            yield batch.astype("float32"), self.labels[pick]

    def __len__(self):
        return len(self.images) // self.batch_size

    def __getitem__(self, i):
        return next(self._stream)


rng = np.random.default_rng(0)
labels = rng.integers(0, 2, 160)
images = rng.random((160, 12, 12, 1)) * 0.5 + 0.4 * labels[:, None, None, None]

train = AugmentedImages(images, labels, 16)
model = tf.keras.Sequential([
    tf.keras.layers.Input((12, 12, 1)),
    tf.keras.layers.Conv2D(6, 3, activation="relu"),
    tf.keras.layers.GlobalAveragePooling2D(),
    tf.keras.layers.Dense(1, activation="sigmoid"),
])
model.compile(optimizer="adam", loss="binary_crossentropy", metrics=["accuracy"])
model.fit(train, epochs=2, verbose=2)
