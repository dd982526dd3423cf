from keras.models import Model
from keras.layers import Input, Dense
import numpy as np

inp = Input(shape=(4,))
out = Dense(1)(inp)
model = Model(input=inp, output=out)  # <- FIT902
model.compile("adam", "mse")
model.fit(np.random.rand(16, 4), np.random.rand(16, 1))
