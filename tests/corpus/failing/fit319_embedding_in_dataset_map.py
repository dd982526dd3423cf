import numpy as np
import tensorflow as tf

AUTOTUNE = tf.data.AUTOTUNE


def make_encoder():
    inputs = tf.keras.Input((16,))
    h = tf.keras.layers.Dense(12, activation="relu")(inputs)
    return tf.keras.Model(inputs, tf.keras.layers.Dense(6)(h), name="pretrained_encoder")


def pipeline(x, y, encoder, batch):
    def encode(features, label):
        return encoder.predict(features), label  # <- FIT319

    ds = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(len(x))
    return ds.batch(batch).map(encode).prefetch(AUTOTUNE)


if __name__ == "__main__":
    rng = np.random.default_rng(0)
    x = rng.normal(size=(160, 16)).astype("float32")
    y = (x[:, 0] + x[:, 1] > 0).astype("int32")
    encoder = make_encoder()
    classifier = tf.keras.Sequential([tf.keras.Input((6,)), tf.keras.layers.Dense(2, activation="softmax")])
    classifier.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
    classifier.fit(pipeline(x, y, encoder, 16), epochs=1, verbose=2)
