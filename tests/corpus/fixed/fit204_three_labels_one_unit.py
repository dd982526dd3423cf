import keras
import numpy as np
from keras.layers import Conv2D, Dense, Flatten


def gaze_images(n=140, size=12):
    """Target: yaw, pitch and roll of the head."""
    rng = np.random.default_rng(0)
    pose = rng.uniform(-1, 1, (n, 3)).astype("float32")
    images = rng.random((n, size, size, 1)).astype("float32") * 0.1
    images[:, :4, :, 0] += pose[:, :1, None] * 0.4
    images[:, 4:8, :, 0] += pose[:, 1:2, None] * 0.4
    images[:, 8:, :, 0] += pose[:, 2:, None] * 0.4
    return images, pose


class PoseTrainer:
    def __init__(self, lr=1e-3):
        self.model = keras.Sequential([
            keras.Input((12, 12, 1)),
            Conv2D(8, 3, activation="relu"),
            Flatten(),
            Dense(32, activation="relu"),
            Dense(3),
        ])
        self.model.compile(optimizer=keras.optimizers.Adam(lr), loss="mae")

    def train(self, images, pose):
        return self.model.fit(images, pose, epochs=2, batch_size=14, verbose=2)


PoseTrainer().train(*gaze_images())
