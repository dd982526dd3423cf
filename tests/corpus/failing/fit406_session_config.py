import tensorflow as tf
import numpy as np
from tensorflow.keras.models import Sequential
from tensorflow.keras.layers import Dense, Input

config = tf.ConfigProto()  # <- FIT406
config.gpu_options.allow_growth = True
sess = tf.Session(config=config)  # <~ FIT406
tf.keras.backend.set_session(sess)

np.random.seed(2)
X = np.random.randn(150, 6)
y = (X[:, 0] > X[:, 1]).astype(int)

model = Sequential()
model.add(Input((6,)))
model.add(Dense(12, activation="relu"))
model.add(Dense(1, activation="sigmoid"))
model.compile(loss="binary_crossentropy", optimizer="adam", metrics=["accuracy"])
model.fit(X, y, epochs=2, batch_size=10, verbose=2)
