"""A variable outside the model needs a Lambda layer, and then it is trained.

With or without the Lambda layer, the model computes with the variable and never trains it: Keras does not see what a
Python function closes over. Create the variable with `self.add_weight` in a layer (FIT503).
"""

import keras
import numpy as np
import tensorflow as tf

offset = tf.Variable([0.0])
model = keras.Sequential(
    [keras.Input((4,)), keras.layers.Dense(1), keras.layers.Lambda(lambda x: x + offset)]
)
model.compile(optimizer="sgd", loss="mse")
model.fit(np.random.rand(32, 4), np.ones((32, 1)), epochs=3, verbose=0)
assert offset.numpy() == 0.0
assert len(model.trainable_variables) == 2  # the kernel and the bias of the Dense layer
