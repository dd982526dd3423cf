"""What later versions of Keras 2 removed (`nb_epoch`, `predict_classes`, an optimizer's `decay`, the modules of
`keras.layers`)

`LearningRateScheduler` and `ReduceLROnPlateau` have no effect next to a schedule

An embedding index of -1 raises (FIT113). In Keras 3 it silently reads the last row (FIT115).
"""

import importlib

import keras
import numpy as np
import tensorflow as tf
import tf_keras

x, y = np.ones((8, 2)), np.ones((8, 1))


def raises(action):
    try:
        action()
    except Exception:
        return True
    return False


model = tf_keras.Sequential([tf_keras.layers.Dense(1)])
model.compile("sgd", "mse")
assert raises(lambda: model.fit(x, y, nb_epoch=1))
assert not hasattr(tf_keras.Sequential, "predict_classes")
assert raises(lambda: tf_keras.optimizers.SGD(decay=0.1))
assert raises(lambda: importlib.import_module("tf_keras.layers.core"))

schedule = tf_keras.optimizers.schedules.ExponentialDecay(0.01, 10, 0.9)
for callback in (
    tf_keras.callbacks.LearningRateScheduler(lambda epoch: 0.0),
    tf_keras.callbacks.ReduceLROnPlateau(monitor="loss", factor=0.0, patience=0, min_delta=1e9),
):
    model = tf_keras.Sequential([tf_keras.layers.Dense(1, kernel_initializer="zeros")])
    model.compile(tf_keras.optimizers.SGD(schedule), "mse")
    losses = model.fit(x, y, epochs=4, verbose=0, callbacks=[callback]).history["loss"]
    assert losses == sorted(losses, reverse=True) and len(set(losses)) == 4  # the model still learns

ids = tf.constant([[-1]])
table = np.arange(6.0).reshape(3, 2)
for package, reads in ((keras, True), (tf_keras, False)):
    layer = package.layers.Embedding(3, 2)
    layer.build((None, 1))
    layer.set_weights([table])
    step = tf.function(layer)
    assert raises(lambda: step(ids)) is not reads
    if reads:
        assert (np.array(step(ids))[0, 0] == table[-1]).all()
