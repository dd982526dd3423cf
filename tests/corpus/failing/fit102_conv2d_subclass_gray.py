import numpy as np
import tensorflow as tf
from sklearn.model_selection import train_test_split


class GlyphNet(tf.keras.Model):
    def __init__(self, n_classes):
        super().__init__()
        self.conv1 = tf.keras.layers.Conv2D(8, 3, activation="relu")
        self.pool = tf.keras.layers.MaxPooling2D()
        self.conv2 = tf.keras.layers.Conv2D(16, 3, activation="relu")
        self.gap = tf.keras.layers.GlobalAveragePooling2D()
        self.head = tf.keras.layers.Dense(n_classes)

    def call(self, x, training=False):
        x = self.pool(self.conv1(x))
        x = self.conv2(x)
        return self.head(self.gap(x))


def render_glyphs(n=240, size=20):
    rng = np.random.default_rng(1)
    y = rng.integers(0, 3, n)
    x = rng.random((n, size, size), dtype=np.float32) * 0.1  # <~ FIT102
    x[y == 0, 8:12, :] += 0.9
    x[y == 1, :, 8:12] += 0.9
    x[y == 2] += np.eye(size, dtype=np.float32) * 0.9
    return x, y  # <- FIT102


def main():
    x, y = render_glyphs()
    x_tr, x_va, y_tr, y_va = train_test_split(x, y, test_size=0.25, random_state=0, stratify=y)
    net = GlyphNet(3)
    net.compile(
        optimizer=tf.keras.optimizers.Adam(3e-3),
        loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        metrics=["accuracy"],
    )
    net.fit(x_tr, y_tr, validation_data=(x_va, y_va), epochs=2, batch_size=30, verbose=2)  # <~ FIT102


if __name__ == "__main__":
    main()
