"""Code for TensorFlow 1 behind guards that leave before it."""

import numpy as np
import tensorflow as tf

if tf.__version__.startswith("1."):
    import tensorflow.contrib.slim as slim
    from keras.layers.merge import concatenate
else:
    from tensorflow.keras.layers import concatenate


def session():
    if int(tf.__version__.split(".")[0]) >= 2:
        return None
    config = tf.ConfigProto()
    config.gpu_options.allow_growth = True
    return tf.Session(config=config)


def session2():
    if tf.__version__ >= "2":
        return
    tf.enable_eager_execution()


def session3():
    from packaging.version import Version

    if Version(tf.__version__) >= Version("2.0"):
        tf.config.run_functions_eagerly(False)
        return
    s = tf.Session()
    tf.set_random_seed(1)
    tf.keras.backend.set_session(s)


session()
session2()
session3()
a = tf.keras.Input((4,))
b = tf.keras.Input((4,))
m = tf.keras.Model([a, b], tf.keras.layers.Dense(1)(concatenate([a, b])))
m.compile("adam", "mse")
m.fit([np.random.rand(16, 4)] * 2, np.random.rand(16, 1), verbose=0)
