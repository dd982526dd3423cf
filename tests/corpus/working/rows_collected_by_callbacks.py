"""Lists filled by functions that pandas, `map` and comprehensions call."""

import numpy as np
import pandas as pd
import keras
from keras import layers

frame = pd.DataFrame({"v": np.random.rand(40), "label": np.random.randint(0, 2, 40)})
xs = []
ys = []
frame.apply(lambda row: xs.append([row.v, row.v * 2]), axis=1)
frame["label"].apply(lambda v: ys.append(v))
model = keras.Sequential([keras.Input((2,)), layers.Dense(1, activation="sigmoid")])
model.compile("adam", "binary_crossentropy")
model.fit(np.array(xs), np.array(ys), verbose=0)

zs = []
list(map(lambda v: zs.append([v, v]), frame["v"]))
model.fit(np.asarray(zs), np.array(ys), verbose=0)

ws = []
[ws.append((v, v)) for v in frame["v"]]
model.fit(np.asarray(ws), np.array(ys), verbose=0)

us = []


def keep(v):
    us.append([v, v])


frame.v.apply(keep)
model.fit(np.asarray(us), np.array(ys), verbose=0)

ts = []
add = ts.append
for v in frame.v:
    add([v, v])
model.fit(np.asarray(ts), np.array(ys), verbose=0)
ss = []
frame.v.map(ss.append)
model.fit(np.asarray(ss).reshape(-1, 1).repeat(2, 1), np.array(ys), verbose=0)
