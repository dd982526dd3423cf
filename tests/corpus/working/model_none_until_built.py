import numpy as np
from tensorflow import keras

def get_model(kind):
    if kind == "mlp":
        return keras.Sequential([keras.Input((4,)), keras.layers.Dense(1)])
    elif kind == "linear":
        m = keras.Sequential([keras.Input((4,)), keras.layers.Dense(1, use_bias=False)])
        return m

def compile_model(m):
    m.compile("adam", "mse")

model = get_model("mlp")
compile_model(model)
model.fit(np.random.rand(10, 4), np.random.rand(10), epochs=1, verbose=0)
