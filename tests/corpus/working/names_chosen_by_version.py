"""Names that a version guard chooses, and code after guards that raise or continue."""

import numpy as np
import tensorflow as tf
from packaging import version

is_two = version.parse(tf.__version__).major > 1
if is_two:
    import tensorflow.compat.v1 as tf1
    import tensorflow.keras as K
else:
    tf1 = tf
    import keras as K
    from keras.engine.topology import Layer
    from keras.layers.merge import Concatenate
try:
    from keras.layers.merge import Merge
except ImportError:
    Merge = None
try:
    from keras.engine import InputSpec
except ImportError:
    from keras.layers import InputSpec


def old(seed):
    if is_two:
        raise RuntimeError("for TensorFlow 1 only")
    tf.set_random_seed(seed)
    return tf.placeholder(tf.float32)


for seed in range(2):
    if is_two:
        tf.random.set_seed(seed)
        continue
    tf.set_random_seed(seed)

m = K.Sequential([K.Input((3,)), K.layers.Dense(1)])
m.compile("adam", "mse")
m.fit(np.random.rand(16, 3), np.random.rand(16, 1), verbose=0)
assert is_two
if not is_two:
    print(tf.get_default_graph())
