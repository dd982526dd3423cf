import numpy as np
from tensorflow.keras.layers import Conv2D, Dense, Flatten, Input, MaxPooling2D
from tensorflow.keras.models import Sequential
from tensorflow.keras.utils import to_categorical

num_classes = 4
rng = np.random.RandomState(0)
labels = rng.randint(0, num_classes, 160)
images = rng.rand(160, 16, 16, 1).astype("float32") * 0.3
for k in range(num_classes):
    images[labels == k, 4 * k:4 * k + 4] += 0.6

y = to_categorical(labels, num_classes)

model = Sequential()
model.add(Input(shape=(16, 16, 1)))
model.add(Conv2D(8, (3, 3), activation="relu"))
model.add(MaxPooling2D((2, 2)))
model.add(Flatten())
model.add(Dense(num_classes, activation="softmax"))

model.compile(optimizer="adam", loss="categorical_crossentropy", metrics=["accuracy"])
model.fit(images, y, epochs=2, batch_size=16, validation_split=0.25, verbose=2)
