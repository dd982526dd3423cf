import numpy as np
import tensorflow as tf

num_classes = 4


def build(input_shape=(28, 28, 1)):
    m = tf.keras.models.Sequential()
    m.add(tf.keras.layers.Input(input_shape))
    for filters in (8, 16, 32, 32):  # <- FIT306
        m.add(tf.keras.layers.Conv2D(filters, (3, 3), activation="relu"))  # <~ FIT306
        m.add(tf.keras.layers.MaxPooling2D((2, 2)))  # <~ FIT306
    m.add(tf.keras.layers.Flatten())
    m.add(tf.keras.layers.Dense(num_classes, activation="softmax"))
    return m


rng = np.random.RandomState(0)
y = rng.randint(0, num_classes, 160)
x = rng.rand(160, 28, 28, 1).astype("float32") * 0.3
for i, k in enumerate(y):
    r, c = divmod(k, 2)
    x[i, 14 * r:14 * r + 14, 14 * c:14 * c + 14] += 0.5
onehot = tf.keras.utils.to_categorical(y, num_classes)

model = build()
model.compile("adam", "categorical_crossentropy", metrics=["accuracy"])
model.fit(x, onehot, epochs=1, batch_size=32, verbose=2)
