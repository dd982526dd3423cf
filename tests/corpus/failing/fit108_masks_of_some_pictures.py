import numpy as np
import tensorflow as tf


class SegLoader:
    def __init__(self, images, masks):
        self.images = images
        self.masks = masks

    def data_batch(self, batch_size):
        data = tf.data.Dataset.from_tensor_slices((self.images, self.masks))  # <- FIT108
        return data.shuffle(100).batch(batch_size)


images = np.random.rand(40, 16, 16, 3).astype('float32')
masks = np.random.randint(0, 2, (29, 16, 16, 1)).astype('float32')  # <~ FIT108
loader = SegLoader(images, masks)
inp = tf.keras.Input((16, 16, 3))
out = tf.keras.layers.Conv2D(1, 3, padding='same', activation='sigmoid')(inp)
model = tf.keras.Model(inp, out)
model.compile('adam', 'binary_crossentropy')
model.fit(loader.data_batch(8), epochs=1)
