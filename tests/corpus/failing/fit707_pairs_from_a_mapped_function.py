import keras
import numpy as np
import tensorflow as tf
from keras import layers

rng = np.random.default_rng(2)
questions = rng.integers(1, 60, (300, 8))
answers = rng.integers(1, 60, (300, 12))
fits = (questions.mean(axis=1) > 30).astype("float32")


def numbered(question, answer, label):
    question = tf.cast(question, "int32")
    return question, answer, label  # <- FIT707


rows = tf.data.Dataset.from_tensor_slices((questions, answers, fits)).map(numbered)  # <~ FIT707
train = rows.take(240).shuffle(240).batch(24)
held_out = rows.skip(240).batch(24)

words = layers.Embedding(60, 8)
question = keras.Input((8,), dtype="int32")
answer = keras.Input((12,), dtype="int32")
both = layers.concatenate([layers.GlobalAveragePooling1D()(words(each)) for each in (question, answer)])
model = keras.Model([question, answer], layers.Dense(1, activation="sigmoid")(both))
model.compile("adam", "binary_crossentropy", metrics=["accuracy"])
model.fit(train, validation_data=held_out, epochs=2, verbose=0)
