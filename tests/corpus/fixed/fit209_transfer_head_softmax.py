import numpy as np
import tensorflow as tf


def backbone(shape):
    inp = tf.keras.Input(shape)
    h = tf.keras.layers.Conv2D(8, 3, strides=2, activation="relu")(inp)
    h = tf.keras.layers.Conv2D(12, 3, strides=2, activation="relu")(h)
    return tf.keras.Model(inp, h, name="backbone")


def add_head(base):
    x = tf.keras.layers.GlobalAveragePooling2D()(base.output)
    x = tf.keras.layers.Dropout(0.2)(x)
    x = tf.keras.layers.Dense(1)(x)
    prediction = tf.keras.layers.Activation("sigmoid", name="cat_or_dog")(x)
    return tf.keras.Model(base.input, prediction)


def pets(n=120):
    rng = np.random.default_rng(15)
    dog = rng.integers(0, 2, n)
    img = rng.random((n, 24, 24, 3)).astype("float32") * 0.6
    img[dog == 1, ..., 2] += 0.4
    return img, dog.astype("float32")


if __name__ == "__main__":
    img, dog = pets()
    model = add_head(backbone((24, 24, 3)))
    model.compile(optimizer=tf.keras.optimizers.Adam(1e-3), loss="binary_crossentropy", metrics=["accuracy"])
    model.fit(img, dog, epochs=2, batch_size=20, validation_split=0.2, verbose=2)
