import numpy as np
from tensorflow.keras.layers import Dense, Dropout, Input
from tensorflow.keras.models import Model
from sklearn.datasets import load_diabetes


def get_xy():
    data = load_diabetes()
    x = data.data[:200] * 20
    y = data.target[:200] / 350.0
    high = (y > 0.5).astype("float32")
    return x.astype("float32"), y.astype("float32"), high


class MultiTask:
    def __init__(self, n_features):
        inp = Input((n_features,))
        trunk = Dropout(0.1)(Dense(24, activation="relu")(inp))
        level = Dense(1, name="level")(trunk)
        flag = Dense(1, activation="sigmoid", name="flag")(trunk)
        self.model = Model(inp, [level, flag])
        self.model.compile("adam", loss=["mse", "binary_crossentropy"])

    def train(self, x, level, flag):
        return self.model.fit(x, level, epochs=2, batch_size=20, verbose=2)  # <- FIT216


x, level, flag = get_xy()
MultiTask(x.shape[1]).train(x, level, flag)
