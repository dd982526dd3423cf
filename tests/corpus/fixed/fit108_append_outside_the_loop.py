import numpy as np
import tensorflow as tf

subjects = {f"s{i}": np.random.randn(20, 128, 6).astype("float32") for i in range(5)}
activity = {k: np.random.randint(0, 4) for k in subjects}
data, labels = [], []
for name, recording in subjects.items():
    for segment in recording:
        data.append(segment)
    labels.extend([activity[name]] * len(recording))
data = np.array(data)
labels = np.array(labels)
model = tf.keras.Sequential([
    tf.keras.Input((128, 6)),
    tf.keras.layers.Conv1D(8, 5, activation="relu"),
    tf.keras.layers.GlobalAveragePooling1D(),
    tf.keras.layers.Dense(4, activation="softmax"),
])
model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
model.fit(data, labels, epochs=1, verbose=0)
