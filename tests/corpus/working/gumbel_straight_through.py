import tensorflow as tf
import numpy as np

class GumbelVQ(tf.keras.Model):
    def __init__(self, k=8, d=4):
        super().__init__()
        self.enc = tf.keras.layers.Dense(k)
        self.codebook = self.add_weight(shape=(k, d), initializer='uniform', name='codebook')
        self.dec = tf.keras.layers.Dense(6)

    def call(self, x, training=False):
        logits = self.enc(x)
        soft = tf.nn.softmax(logits)
        hard = tf.one_hot(tf.argmax(soft, -1), tf.shape(soft)[-1])
        y = tf.stop_gradient(hard - soft) + soft
        return self.dec(tf.matmul(y, self.codebook))

m = GumbelVQ()
m.compile('adam', 'mse')
x = np.random.rand(32, 6).astype('float32')
m.fit(x, x, epochs=1, verbose=0)
print(tf.argmax(m.enc(x), -1).numpy()[:5])
