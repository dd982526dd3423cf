import numpy as np
import tensorflow as tf
from tensorflow.keras import backend as K
from tensorflow.keras.layers import Dense, Embedding, Flatten, Input
from tensorflow.keras.models import Sequential


def rmse(y_true, y_pred):
    return K.sqrt(K.mean(K.square(y_pred - y_true), axis=-1) + K.epsilon())


def schedule(epoch, lr):
    return lr if epoch < 1 else lr * 0.5


rng = np.random.default_rng(0)
ids = rng.integers(0, 40, (160, 6))
table = rng.normal(size=40)
y = table[ids].sum(axis=1)

model = Sequential()
model.add(Input((6,), dtype="int32"))
model.add(Embedding(40, 4))
model.add(Flatten())
model.add(Dense(1))
model.compile(loss=rmse, optimizer="rmsprop")
model.fit(ids, y, epochs=2, batch_size=20, callbacks=[tf.keras.callbacks.LearningRateScheduler(schedule)], verbose=2)
