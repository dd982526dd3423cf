import numpy as np
import tensorflow as tf

def augment(image, label):
    image = image.numpy()  # <- FIT407
    image = np.fliplr(image)  # <~ FIT407
    return image, label

def pipeline():
    x = np.random.rand(40, 8, 8, 1).astype("float32")
    y = np.random.randint(0, 2, 40)
    return tf.data.Dataset.from_tensor_slices((x, y)).map(augment).batch(8)

model = tf.keras.Sequential([tf.keras.layers.Flatten(), tf.keras.layers.Dense(1, activation="sigmoid")])
model.compile("adam", "binary_crossentropy")
model.fit(pipeline(), epochs=1, verbose=0)
