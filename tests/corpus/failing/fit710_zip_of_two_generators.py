import numpy as np
import tensorflow as tf
from tensorflow.keras.preprocessing.image import ImageDataGenerator
from tensorflow.keras import layers

images = np.random.rand(24, 32, 32, 3)
masks = (np.random.rand(24, 32, 32, 1) > 0.5).astype("float32")
args = dict(rescale=1.0)
seed = 1
image_generator = ImageDataGenerator(**args).flow(images, batch_size=4, seed=seed)
mask_generator = ImageDataGenerator(**args).flow(masks, batch_size=4, seed=seed)
train_generator = zip(image_generator, mask_generator)  # <- FIT710

model = tf.keras.Sequential(
    [
        layers.Input((32, 32, 3)),
        layers.Conv2D(4, 3, padding="same", activation="relu"),
        layers.Conv2D(1, 1, activation="sigmoid"),
    ]
)
model.compile("adam", "binary_crossentropy")
model.fit(train_generator, steps_per_epoch=4, epochs=1, verbose=0)  # <~ FIT710
