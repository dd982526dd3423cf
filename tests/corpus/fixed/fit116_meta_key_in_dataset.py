import numpy as np
import tensorflow as tf

IMG = 12


def examples(n=96):
    rng = np.random.default_rng(31)
    label = rng.integers(0, 2, n).astype("float32")
    image = rng.random((n, IMG, IMG, 1)).astype("float32") * 0.5 + label[:, None, None, None] * 0.4
    meta = rng.normal(size=(n, 4)).astype("float32")
    return {"exam_id": np.arange(n, dtype="float32"), "image": image, "meta": meta}, label


def pipeline(batch=16):
    inputs, label = examples()
    inputs.pop("exam_id")
    ds = tf.data.Dataset.from_tensor_slices((inputs, label))
    return ds.shuffle(96).batch(batch)


def build():
    image = tf.keras.Input((IMG, IMG, 1), name="image")
    meta = tf.keras.Input((4,), name="meta")
    h = tf.keras.layers.Conv2D(6, 3, activation="relu")(image)
    h = tf.keras.layers.GlobalAveragePooling2D()(h)
    h = tf.keras.layers.Concatenate()([h, meta])
    out = tf.keras.layers.Dense(1, activation="sigmoid")(h)
    return tf.keras.Model({"image": image, "meta": meta}, out)


model = build()
model.compile(optimizer="adam", loss="binary_crossentropy", metrics=["accuracy"])
model.fit(pipeline(), epochs=2, verbose=2)
