import keras
from keras import ops
import numpy as np

def focal_loss(alpha=0.25, gamma=2.0):
    def focal(y_true, y_pred):
        p = ops.clip(y_pred, 1e-6, 1 - 1e-6)
        return -ops.mean(alpha * y_true * ops.power(1 - p, gamma) * ops.log(p))
    return focal

model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(1, activation='sigmoid')])
model.compile(optimizer='adam', loss=focal_loss)  # <- FIT314
model.fit(np.random.rand(30, 3), np.random.randint(0, 2, (30, 1)).astype('float32'), epochs=1)
