import numpy as np
import tensorflow as tf
import keras

class PosEnc(keras.layers.Layer):
    cache = {}
    def call(self, x):
        n = x.shape[1]
        if n not in PosEnc.cache:
            PosEnc.cache[n] = tf.cast(tf.range(n), tf.float32)[None, :, None]  # <- FIT402
        return x + PosEnc.cache[n]

inp = keras.Input((6, 4))
m = keras.Model(inp, keras.layers.Dense(1)(keras.layers.Flatten()(PosEnc()(inp))))
m.compile("sgd", "mse")
m.fit(np.ones((8, 6, 4)), np.ones((8, 1)), verbose=0)
m.predict(np.ones((8, 6, 4)), verbose=0)
