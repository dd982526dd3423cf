import numpy as np
import tensorflow as tf


def sentences():
    rng = np.random.default_rng(0)
    for length in (5, 8, 6, 7, 5, 9, 6, 8):
        yield rng.normal(size=(length, 3)).astype("float32"), float(length > 6)


signature = (tf.TensorSpec((None, 3), tf.float32), tf.TensorSpec((), tf.float32))
dataset = tf.data.Dataset.from_generator(sentences, output_signature=signature)
dataset = dataset.padded_batch(4)

model = tf.keras.Sequential([tf.keras.layers.LSTM(4), tf.keras.layers.Dense(1, activation="sigmoid")])
model.compile(optimizer="adam", loss="binary_crossentropy")
model.fit(dataset, epochs=1, verbose=0)
