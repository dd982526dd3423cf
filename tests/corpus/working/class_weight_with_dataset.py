import numpy as np
import tensorflow as tf
from sklearn.utils.class_weight import compute_class_weight

rng = np.random.default_rng(3)
y = rng.choice(3, 300, p=[0.7, 0.2, 0.1])
x = rng.normal(size=(300, 6)).astype("float32")
x[np.arange(300), y] += 2

weights = compute_class_weight("balanced", classes=np.arange(3), y=y)
ds = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(300).batch(30)

model = tf.keras.Sequential([
    tf.keras.layers.Dense(16, activation="relu"),
    tf.keras.layers.Dense(3, activation="softmax"),
])
model.compile(optimizer="adam", loss="sparse_categorical_crossentropy", metrics=["accuracy"])
model.fit(ds, epochs=2, class_weight=dict(enumerate(weights)), verbose=2)
