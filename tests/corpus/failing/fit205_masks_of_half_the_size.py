import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

def unet(h, w):
    i = layers.Input((h, w, 3))
    c1 = layers.Conv2D(8, 3, padding="same", activation="relu")(i)
    p1 = layers.MaxPooling2D()(c1)
    c2 = layers.Conv2D(16, 3, padding="same", activation="relu")(p1)
    u = layers.UpSampling2D()(c2)
    m = layers.Concatenate()([u, c1])
    return tf.keras.Model(i, layers.Conv2D(1, 1, activation="sigmoid")(m))

IMG, MASK = 64, 32
images = np.random.rand(8, IMG, IMG, 3).astype("float32")
masks = np.random.randint(0, 2, (8, MASK, MASK, 1)).astype("float32")  # <- FIT205
model = unet(IMG, IMG)
model.compile("adam", "binary_crossentropy", metrics=["accuracy"])
model.fit(images, masks, epochs=1, batch_size=4, verbose=0)  # <~ FIT205
