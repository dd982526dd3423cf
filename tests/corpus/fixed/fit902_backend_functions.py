import numpy as np
import keras
from keras import backend as K


def root_mean_squared_error(y_true, y_pred):
    return keras.ops.sqrt(keras.ops.mean(keras.ops.square(y_pred - y_true)))


model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(1)])
model.compile(optimizer="rmsprop", loss=root_mean_squared_error)
model.fit(np.random.rand(32, 4), np.random.rand(32, 1), epochs=1)
