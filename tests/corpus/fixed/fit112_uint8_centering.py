import numpy as np
import tensorflow as tf
from tensorflow.keras import layers


def camera_frames(n=160):
    rng = np.random.default_rng(2)
    y = rng.integers(0, 2, n)
    frames = rng.integers(90, 160, size=(n, 20, 20, 1), dtype=np.uint8)
    frames[y == 1, 5:15, 5:15] -= 60
    return frames, y


def preprocess(frames):
    # centre around zero, then scale to about -1..1
    centred = frames.astype("float32") - 128
    return centred / 128.0


frames, y = camera_frames()
x = preprocess(frames)

model = tf.keras.Sequential([
    layers.Input((20, 20, 1)),
    layers.Conv2D(8, 3, activation="relu"),
    layers.GlobalAveragePooling2D(),
    layers.Dense(1, activation="sigmoid"),
])
model.compile("adam", "binary_crossentropy", metrics=["accuracy"])
model.fit(x[:128], y[:128], validation_data=(x[128:], y[128:]), epochs=2, verbose=2)
