import numpy as np
from tensorflow import keras
from tensorflow.keras import layers


def augment(batch, rng):
    flip = rng.random(len(batch)) < 0.5
    batch = batch.copy()
    batch[flip] = batch[flip][:, :, ::-1]
    return batch


def image_generator(images, labels, batch_size, seed=0):
    rng = np.random.default_rng(seed)
    while True:
        pick = rng.choice(len(images), batch_size, replace=False)
        yield augment(images[pick], rng), labels[pick]


rng = np.random.default_rng(9)
labels = rng.integers(0, 2, 120)
images = rng.random((120, 14, 14, 1)).astype("float32") * 0.5
images[labels == 1, 7:] += 0.4

model = keras.Sequential([
    layers.Input((14, 14, 1)),
    layers.Conv2D(6, 3, activation="relu"),
    layers.Flatten(),
    layers.Dense(1, activation="sigmoid"),
])
model.compile("adam", "binary_crossentropy", metrics=["accuracy"])
train_gen = image_generator(images, labels, 20)
model.fit(train_gen, epochs=2, steps_per_epoch=len(images) // 20, verbose=2)
print("finished")
