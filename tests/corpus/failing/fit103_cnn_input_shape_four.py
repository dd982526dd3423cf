import numpy as np
from tensorflow import keras
from tensorflow.keras.layers import Conv2D, MaxPooling2D, Flatten, Dense

rng = np.random.default_rng(5)
labels = rng.integers(0, 2, 150)
images = rng.integers(0, 90, size=(150, 32, 32, 3))
images[labels == 1, 10:22, 10:22, 0] += 150
images = images.astype("float32") / 255.0

n_train = 120
x_train, x_test = images[:n_train], images[n_train:]
y_train, y_test = labels[:n_train], labels[n_train:]

cnn = keras.Sequential([
    Conv2D(16, (3, 3), activation="relu", input_shape=(n_train, 32, 32, 3)),  # <- FIT103
    MaxPooling2D((2, 2)),
    Conv2D(16, (3, 3), activation="relu"),
    MaxPooling2D((2, 2)),
    Flatten(),
    Dense(32, activation="relu"),
    Dense(1, activation="sigmoid"),
])
cnn.compile(optimizer="adam", loss="binary_crossentropy", metrics=["accuracy"])
cnn.fit(x_train, y_train, epochs=2, batch_size=30, validation_data=(x_test, y_test))
