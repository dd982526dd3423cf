import numpy as np
import tensorflow as tf


class AttentionPool(tf.keras.layers.Layer):
    def build(self, input_shape):
        self.w = self.add_weight(shape=(input_shape[-1], 1), initializer="glorot_uniform", name="w")

    def call(self, inputs):
        scores = tf.nn.softmax(tf.matmul(inputs, self.w), axis=1)
        context = tf.reduce_sum(inputs * scores, axis=1)  # <- FIT310


rng = np.random.default_rng(3)
x = rng.normal(size=(150, 12, 4)).astype("float32")
y = (x[:, :, 0].max(axis=1) > 1.5).astype("float32")

inputs = tf.keras.Input((12, 4))
h = tf.keras.layers.LSTM(8, return_sequences=True)(inputs)
h = AttentionPool()(h)
outputs = tf.keras.layers.Dense(1, activation="sigmoid")(h)
model = tf.keras.Model(inputs, outputs)
model.compile("adam", "binary_crossentropy", metrics=["accuracy"])
model.fit(x, y, epochs=2, batch_size=25, verbose=2)
