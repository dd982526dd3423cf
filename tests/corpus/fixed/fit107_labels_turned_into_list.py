import os
import tempfile
import numpy as np
import tensorflow as tf

CATEGORIES = ["Dog", "Cat"]
folder = tempfile.mkdtemp()
for c in CATEGORIES:
    os.makedirs(os.path.join(folder, c))
    for i in range(10):
        np.save(os.path.join(folder, c, f"{i}.npy"), np.random.randint(0, 255, (32, 32, 3)))

training_data = []
def create_training_data():
    for category in CATEGORIES:
        path = os.path.join(folder, category)
        class_num = CATEGORIES.index(category)
        for img in os.listdir(path):
            training_data.append([np.load(os.path.join(path, img)), class_num])

create_training_data()
X = []
y = []
for features, label in training_data:
    X.append(features)
    y.append(label)
X = np.array(X).reshape(-1, 32, 32, 3) / 255.0
y = np.array(y)

model = tf.keras.models.Sequential()
model.add(tf.keras.layers.Conv2D(8, (3, 3), input_shape=X.shape[1:]))
model.add(tf.keras.layers.Activation("relu"))
model.add(tf.keras.layers.MaxPooling2D(pool_size=(2, 2)))
model.add(tf.keras.layers.Flatten())
model.add(tf.keras.layers.Dense(1))
model.add(tf.keras.layers.Activation("sigmoid"))
model.compile(loss="binary_crossentropy", optimizer="adam", metrics=["accuracy"])
model.fit(X, y, batch_size=8, epochs=1, validation_split=0.1, verbose=0)
