import tensorflow as tf
import numpy as np
from tensorflow.keras.layers import Conv2D, BatchNormalization, ReLU, GlobalAveragePooling2D, Dense


def conv_block(x, filters):
    x = Conv2D(filters, 3, padding="same", use_bias=False)(x)  # <- FIT502
    x = BatchNormalization()(x)  # <~ FIT502
    return ReLU()(x)


class SmallCNN(tf.keras.Model):
    def __init__(self, classes):
        super().__init__()
        self.pool = GlobalAveragePooling2D()
        self.fc = Dense(classes, activation="softmax")

    def call(self, x, training=None):
        x = conv_block(x, 8)  # <~ FIT502
        x = conv_block(x, 16)  # <~ FIT502
        return self.fc(self.pool(x))


rng = np.random.default_rng(7)
labels = rng.integers(0, 2, 64)
imgs = rng.random((64, 10, 10, 3)).astype("float32") * 0.5
imgs[labels == 1, ..., 2] += 0.5
net = SmallCNN(2)
net.compile(optimizer="adam", loss="sparse_categorical_crossentropy", metrics=["accuracy"])
net.fit(imgs, labels, batch_size=16, epochs=1, verbose=2)
