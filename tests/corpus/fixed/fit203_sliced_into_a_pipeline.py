import tensorflow as tf
from tensorflow.keras import layers, models
import numpy as np

num_classes = 5
images = np.random.randint(0, 255, (120, 32, 32, 3)).astype("float32") / 255.
labels = np.random.randint(0, num_classes, size=(120,))

train = tf.data.Dataset.from_tensor_slices((images, labels)).shuffle(120).batch(16)

model = models.Sequential([
    layers.Conv2D(8, 3, activation="relu", input_shape=(32, 32, 3)),
    layers.MaxPooling2D(),
    layers.Conv2D(16, 3, activation="relu"),
    layers.GlobalAveragePooling2D(),
    layers.Dense(num_classes, activation="softmax"),
])
model.compile(optimizer="adam", loss="sparse_categorical_crossentropy", metrics=["accuracy"])
history = model.fit(train, epochs=1)
