import numpy as np
import tensorflow as tf
from tensorflow.keras import layers, models

class CenterLoss(layers.Layer):
    def __init__(self, n, d):
        super().__init__()
        self.n, self.d = n, d

    def call(self, inputs):
        feats, labels = inputs
        centers = tf.Variable(tf.zeros((self.n, self.d)), trainable=False)  # <- FIT501
        c = tf.gather(centers, tf.cast(labels[:, 0], tf.int32))
        self.add_loss(tf.reduce_mean(tf.square(feats - c)))
        return feats

fi = layers.Input((5,)); li = layers.Input((1,))
f = layers.Dense(2)(fi)
f = CenterLoss(3, 2)([f, li])
out = layers.Dense(3, activation="softmax")(f)
m = models.Model([fi, li], out)
m.compile("adam", "sparse_categorical_crossentropy")
y = np.random.randint(0, 3, (30, 1))
m.fit([np.random.rand(30, 5), y], y, epochs=1)
