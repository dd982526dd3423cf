"""The input shape follows Keras's image format: the branch for the other format does not run."""

import keras
import keras.backend as K
import numpy as np
from keras import layers


def create_model(image):
    x = layers.Conv2D(2, (3, 3))(image)
    x = layers.MaxPooling2D((2, 2))(x)
    x = layers.Dense(3, activation="softmax")(layers.Flatten()(x))
    model = keras.Model(image, x)
    model.compile("adam", "sparse_categorical_crossentropy")
    return model


if K.image_data_format() == "channels_last":
    model = create_model(keras.Input((28, 28, 1)))
elif K.image_data_format() == "channels_first":
    model = create_model(keras.Input((1, 28, 28)))

model.fit(np.zeros((8, 28, 28, 1), "float32"), np.zeros(8, "int32"), epochs=1, verbose=0)
