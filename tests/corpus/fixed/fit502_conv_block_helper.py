import tensorflow as tf
import numpy as np
from tensorflow.keras.layers import Conv2D, BatchNormalization, ReLU, GlobalAveragePooling2D, Dense


def conv_block(filters):
    return tf.keras.Sequential([Conv2D(filters, 3, padding="same", use_bias=False), BatchNormalization(), ReLU()])


class SmallCNN(tf.keras.Model):
    def __init__(self, classes):
        super().__init__()
        self.block1 = conv_block(8)
        self.block2 = conv_block(16)
        self.pool = GlobalAveragePooling2D()
        self.fc = Dense(classes, activation="softmax")

    def call(self, x, training=None):
        x = self.block1(x, training=training)
        x = self.block2(x, training=training)
        return self.fc(self.pool(x))


rng = np.random.default_rng(7)
labels = rng.integers(0, 2, 64)
imgs = rng.random((64, 10, 10, 3)).astype("float32") * 0.5
imgs[labels == 1, ..., 2] += 0.5
net = SmallCNN(2)
net.compile(optimizer="adam", loss="sparse_categorical_crossentropy", metrics=["accuracy"])
net.fit(imgs, labels, batch_size=16, epochs=1, verbose=2)
