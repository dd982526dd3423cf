"""Code for Keras 2 behind guards that leave before it."""

import sys
import numpy as np
import tensorflow as tf
import keras

OLD = int(keras.__version__[0]) < 3

if not OLD:
    from keras.utils import to_categorical, pad_sequences
else:
    from keras.utils.np_utils import to_categorical
    from keras.preprocessing.sequence import pad_sequences
    import keras.engine as engine
    from keras.layers.normalization import BatchNormalization
    import keras_contrib


def make(lr):
    if OLD:
        return keras.optimizers.Adam(lr=lr, decay=1e-6)
    return keras.optimizers.Adam(learning_rate=lr)


def setup(seed):
    if not hasattr(tf, "Session"):
        return tf.random.set_seed(seed)
    tf.set_random_seed(seed)
    sess = tf.Session(config=tf.ConfigProto())
    keras.backend.set_session(sess)


def setup2(seed):
    try:
        tf.random.set_seed(seed)
        return
    except AttributeError:
        pass
    tf.set_random_seed(seed)


setup(1)
setup2(1)
m = keras.Sequential([keras.Input((4,)), keras.layers.Dense(3, activation="softmax")])
m.compile(make(0.1), "categorical_crossentropy")
m.fit(np.random.rand(16, 4), to_categorical(np.arange(16) % 3, 3), verbose=0)
