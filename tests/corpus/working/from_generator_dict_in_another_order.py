"""A dict declared and yielded in another order than the alphabet: TensorFlow pairs by key; and the casts lose nothing."""
import numpy as np
import tensorflow as tf

def rows():
    rng = np.random.default_rng(0)
    for _ in range(320):
        v = rng.normal(size=3)
        yield {"v": v, "n": 3}, int(v.sum() > 0)

ds = tf.data.Dataset.from_generator(rows, output_signature=({"v": tf.TensorSpec((3,), tf.float32), "n": tf.TensorSpec((), tf.float32)}, tf.TensorSpec((), tf.int64)))
ds = ds.batch(32)
v = tf.keras.Input((3,), name="v"); n = tf.keras.Input((1,), name="n")
m = tf.keras.Model({"v": v, "n": n}, tf.keras.layers.Dense(1, activation="sigmoid")(tf.keras.layers.Concatenate()([v, n])))
m.compile(tf.keras.optimizers.Adam(0.1), "binary_crossentropy", metrics=["accuracy"])
m.fit(ds, epochs=20, verbose=0)
r = m.evaluate(ds, verbose=0)[1]
print(r)
