import keras
import numpy as np
from keras import layers, ops

rng = np.random.default_rng(0)
images = rng.random((64, 8, 8, 1)).astype("float32")
noisy = images + 0.1 * rng.normal(size=images.shape).astype("float32")

features = keras.Sequential(
    [keras.Input((8, 8, 1)), layers.Conv2D(4, 3, activation="relu"), layers.Flatten()], name="features"
)
features.trainable = False


def perceptual(y_true, y_pred):
    target = features(y_true)
    predicted = features(y_pred)
    return ops.mean(ops.square(target - predicted), axis=-1)


model = keras.Sequential(
    [keras.Input((8, 8, 1)), layers.Conv2D(4, 3, padding="same", activation="relu"), layers.Conv2D(1, 3, padding="same")]
)
model.compile(optimizer="adam", loss=perceptual)
model.fit(noisy, images, epochs=1, batch_size=16, verbose=0)
