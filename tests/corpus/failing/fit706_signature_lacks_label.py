import numpy as np
import tensorflow as tf


def patches():
    rng = np.random.default_rng(2)
    for i in range(90):
        label = i % 3
        patch = rng.random((8, 8, 1)).astype("float32") * 0.3
        patch[:, label * 2:label * 2 + 2] += 0.6
        yield patch, label


def build_pipeline(batch):
    signature = (
        tf.TensorSpec((8, 8, 1), tf.float32),
    )  # <- FIT706
    ds = tf.data.Dataset.from_generator(patches, output_signature=signature)
    return ds.shuffle(90).batch(batch)


def main():
    ds = build_pipeline(15)
    inp = tf.keras.Input((8, 8, 1))
    h = tf.keras.layers.Flatten()(inp)
    model = tf.keras.Model(inp, tf.keras.layers.Dense(3, activation="softmax")(h))
    model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
    model.fit(ds, epochs=2, verbose=2)


if __name__ == "__main__":
    main()
