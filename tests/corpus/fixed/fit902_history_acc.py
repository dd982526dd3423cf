import numpy as np
import tensorflow as tf

rng = np.random.default_rng(1)
x = rng.normal(size=(240, 8)).astype("float32")
y = (x[:, 0] - x[:, 1] > 0).astype("int32")

model = tf.keras.Sequential([
    tf.keras.layers.Input((8,)),
    tf.keras.layers.Dense(16, activation="relu"),
    tf.keras.layers.Dense(2, activation="softmax"),
])
model.compile(optimizer="adam", loss="sparse_categorical_crossentropy", metrics=["accuracy"])
history = model.fit(x, y, epochs=3, validation_split=0.25, verbose=0)

acc = history.history["accuracy"]
val_acc = history.history["val_accuracy"]
for epoch, (a, v) in enumerate(zip(acc, val_acc), 1):
    print(f"{epoch}: train {a:.3f} val {v:.3f}")
