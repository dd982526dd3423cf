import numpy as np
from tensorflow import keras
from tensorflow.keras.callbacks import Callback
from sklearn.metrics import f1_score

class F1Callback(Callback):
    def __init__(self):
        super().__init__()
        self.val_f1s = []

    def on_epoch_end(self, epoch, logs=None):
        val_x, val_y = self.validation_data[0], self.validation_data[1]  # <- FIT902
        pred = (self.model.predict(val_x, verbose=0) > 0.5).astype(int)
        f1 = f1_score(val_y, pred)
        self.val_f1s.append(f1)
        print(' - val_f1: %.3f' % f1)

x = np.random.rand(100, 10).astype('float32')
y = (x.sum(1) > 5).astype('int32')
xv, yv = x[80:], y[80:]
x, y = x[:80], y[:80]
model = keras.models.Sequential([keras.layers.Input((10,)), keras.layers.Dense(8, activation='relu'), keras.layers.Dense(1, activation='sigmoid')])
model.compile('adam', 'binary_crossentropy', metrics=['accuracy'])
cb = F1Callback()
model.fit(x, y, epochs=2, validation_data=(xv, yv), callbacks=[cb], verbose=0)
