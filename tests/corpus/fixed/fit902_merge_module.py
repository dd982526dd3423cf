from keras.layers import Input, Dense
from keras.layers import concatenate
from keras.models import Model
import numpy as np

a = Input(shape=(3,))
b = Input(shape=(2,))
x = concatenate([a, b])
out = Dense(1)(x)
model = Model(inputs=[a, b], outputs=out)
model.compile("adam", "mse")
model.fit([np.random.rand(16, 3), np.random.rand(16, 2)], np.random.rand(16, 1))
