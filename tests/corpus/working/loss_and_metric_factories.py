import keras
from keras import ops
import numpy as np

def weighted_bce(pos_weight):
    def loss(y_true, y_pred):
        y_pred = ops.clip(y_pred, 1e-6, 1 - 1e-6)
        return -ops.mean(pos_weight * y_true * ops.log(y_pred) + (1 - y_true) * ops.log(1 - y_pred), axis=-1)
    return loss

def recall_at(threshold=0.5):
    def recall(y_true, y_pred):
        hit = ops.cast(y_pred > threshold, 'float32') * y_true
        return ops.sum(hit) / (ops.sum(y_true) + 1e-7)
    return recall

def accuracy(y_true, y_pred):
    return ops.mean(ops.cast(ops.equal(ops.round(y_pred), y_true), 'float32'))

make_loss = weighted_bce
model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(8, activation='relu'), keras.layers.Dense(1, activation='sigmoid')])
model.compile('adam', loss=make_loss(3.0), metrics=[recall_at(0.4), accuracy])
model.fit(np.random.rand(40, 4), np.random.randint(0, 2, (40, 1)).astype('float32'), epochs=1, verbose=0)
