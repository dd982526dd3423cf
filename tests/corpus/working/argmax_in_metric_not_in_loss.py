import numpy as np
import tensorflow as tf
from tensorflow.keras.layers import Dense, Input


def off_by_one(y_true, y_pred):
    """A metric may use argmax: it needs no gradient."""
    guess = tf.argmax(y_pred, axis=-1, output_type=tf.int32)
    truth = tf.cast(tf.reshape(y_true, (-1,)), tf.int32)
    return tf.cast(tf.abs(guess - truth) <= 1, tf.float32)


rng = np.random.default_rng(0)
x = rng.normal(size=(200, 4)).astype("float32")
grade = np.digitize(x[:, 0], [-1.0, 0.0, 1.0])
model = tf.keras.Sequential([Input((4,)), Dense(16, activation="relu"), Dense(4, activation="softmax")])
model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy", off_by_one])
model.fit(x, grade, epochs=2, batch_size=20, verbose=2)

predicted = np.argmax(model.predict(x, verbose=0), axis=1)
print(np.bincount(predicted, minlength=4))
