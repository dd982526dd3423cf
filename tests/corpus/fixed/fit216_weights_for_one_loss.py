import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

inputs = layers.Input((16, 16, 1))
first = layers.Conv2D(4, 3, padding="same", activation="relu")(inputs)
early = layers.Conv2D(1, 1, activation="sigmoid", name="early")(first)
late = layers.Conv2D(1, 1, activation="sigmoid", name="late")(layers.Conv2D(4, 3, padding="same")(first))
model = tf.keras.Model(inputs, [early, late])
model.compile("adam", loss=["binary_crossentropy", "binary_crossentropy"], loss_weights=[0.3, 0.7])

images = np.random.default_rng(0).random((10, 16, 16, 1))
masks = (images > 0.5).astype("float32")
model.fit(images, [masks, masks], epochs=1)
