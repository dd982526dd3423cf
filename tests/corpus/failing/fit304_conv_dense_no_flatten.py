import numpy as np
from tensorflow.keras.models import Sequential
from tensorflow.keras.layers import Conv2D, MaxPooling2D, Dense, Dropout, Input


def fake_digits(n=200, seed=0):
    """28x28 pictures with a bright square whose column gives the class."""
    rng = np.random.default_rng(seed)
    x = rng.random((n, 28, 28, 1)) * 0.2
    y = rng.integers(0, 5, n)
    for img, k in zip(x, y):
        img[8:18, 5 * k:5 * k + 6] += 0.7
    return x.astype('float32'), y


x_train, y_train = fake_digits()

model = Sequential()
model.add(Input(shape=(28, 28, 1)))
model.add(Conv2D(16, (3, 3), activation='relu'))
model.add(MaxPooling2D((2, 2)))  # <~ FIT304
model.add(Conv2D(16, (3, 3), activation='relu'))  # <~ FIT304
model.add(Dense(32, activation='relu'))  # <- FIT304
model.add(Dropout(0.25))
model.add(Dense(5, activation='softmax'))  # <~ FIT304

model.compile(optimizer='adam',
              loss='sparse_categorical_crossentropy',
              metrics=['accuracy'])
model.fit(x_train, y_train, epochs=2, batch_size=40, verbose=2)
