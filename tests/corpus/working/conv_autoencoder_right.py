import numpy as np
from keras.layers import Input, Conv2D, MaxPooling2D, UpSampling2D, Cropping2D
from keras.models import Model
x_in = Input((30, 30, 1))
h = Conv2D(8, 3, activation="relu", padding="same")(x_in)
h = MaxPooling2D(2, padding="same")(h)
h = MaxPooling2D(2, padding="same")(h)
h = UpSampling2D(2)(h)
h = UpSampling2D(2)(h)
out = Conv2D(1, 3, activation="sigmoid")(h)
ae = Model(x_in, out)
ae.compile("adam", "binary_crossentropy")
x = np.random.rand(16, 30, 30, 1)
ae.fit(x, x, epochs=1, verbose=0)
