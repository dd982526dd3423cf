"""Models that are called on what fit would refuse, or on what only looks wrong."""

import keras
import numpy as np
import tensorflow as tf

# A last axis of 1 may be left out, in a call as in fit.
pictures = keras.Sequential([keras.Input((8, 8, 1)), keras.layers.Flatten(), keras.layers.Dense(2)])
print(pictures(np.random.rand(4, 8, 8)).shape)
column = keras.Sequential([keras.Input((1,)), keras.layers.Dense(3)])
loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
print(float(loss(np.zeros((5, 1)), column(np.arange(5.0)))))

# Text as an array of NumPy: refused by fit, taken by a call.
words = keras.layers.TextVectorization(output_sequence_length=4)
words.adapt(np.array(["a b", "c d"]))
reader = keras.Sequential([keras.Input((1,), dtype="string"), words, keras.layers.Embedding(10, 4)])
print(reader(np.array(["a", "b c"])).shape)


class Reshaping(keras.Model):
    """Its step gives the model other shapes than fit was given."""

    def train_step(self, data):
        x, y = data if isinstance(data, tuple) else (data, None)
        x = tf.reshape(x, (-1, 64))
        with tf.GradientTape() as tape:
            predicted = self(x, training=True)
            loss = tf.reduce_mean(keras.losses.categorical_crossentropy(tf.one_hot(y, 3), predicted))
        grads = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.trainable_variables))
        return {"crossentropy": loss}


flat = keras.Input((64,))
model = Reshaping(flat, keras.layers.Dense(3, activation="softmax")(flat))
model.compile("adam")
model.fit(np.random.rand(32, 8, 8), np.random.randint(0, 3, 32), epochs=1, verbose=0)

ones = tf.data.Dataset.from_tensor_slices(
    (np.random.rand(32, 8, 8).astype("float32"), np.arange(32) % 2)
).batch(8)
optimizer = keras.optimizers.SGD(0.1)
for step, (batch, labels) in enumerate(ones):
    with tf.GradientTape() as tape:
        value = loss(labels, pictures(batch[..., tf.newaxis], training=True))
    grads = tape.gradient(value, pictures.trainable_variables)
    optimizer.apply_gradients(zip(grads, pictures.trainable_variables))
