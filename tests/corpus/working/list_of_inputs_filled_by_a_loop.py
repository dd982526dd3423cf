import numpy as np
from tensorflow import keras
from tensorflow.keras import layers
cols = {"age": np.random.rand(50, 1), "city": np.random.randint(0, 5, (50, 1)), "sex": np.random.randint(0, 2, (50, 1))}
def load(names):
    return list(names)
inputs, feats, xs = [], [], []
for name in load(cols):
    i = layers.Input((1,), name=name)
    inputs.append(i)
    feats.append(layers.Dense(4)(i))
    xs.append(cols[name])
out = layers.Dense(1)(layers.Concatenate()(feats))
m = keras.Model(inputs, out)
m.compile("adam", "mse")
m.fit(xs, np.random.rand(50), verbose=0)
