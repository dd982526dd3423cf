"""A layer of TensorFlow's private Keras is created only if the channels come first, which nothing asks for."""

import numpy as np
import tensorflow as tf
from tensorflow.python.keras import backend, layers

inputs = tf.keras.Input((8, 8, 3))
x = inputs
if backend.image_data_format() == "channels_first":
    x = layers.Lambda(lambda image: backend.permute_dimensions(image, (0, 3, 1, 2)))(x)
x = tf.keras.layers.Conv2D(4, 3)(x)
outputs = tf.keras.layers.Dense(1)(tf.keras.layers.GlobalAveragePooling2D()(x))
model = tf.keras.Model(inputs, outputs)
model.compile("adam", "mse")
model.fit(np.zeros((8, 8, 8, 3), "float32"), np.zeros((8, 1), "float32"), verbose=0)
