import numpy as np
from tensorflow import keras
from tensorflow.keras.preprocessing.image import ImageDataGenerator

photos = np.random.randint(0, 256, (48, 16, 16, 3))
kinds = np.random.randint(0, 3, 48)
augmented = ImageDataGenerator(rescale=1 / 255, horizontal_flip=True)
batches = augmented.flow(photos, kinds, batch_size=8)
net = keras.Sequential(
    [keras.Input((16, 16, 3)), keras.layers.Flatten(), keras.layers.Dense(3, activation="softmax")]
)
net.compile("adam", "sparse_categorical_crossentropy")
net.fit(augmented, epochs=2)  # <- FIT710
