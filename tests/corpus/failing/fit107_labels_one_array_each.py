import numpy as np
from tensorflow import keras


def parse(lines):
    feats, labels = [], []
    for line in lines:
        parts = [float(v) for v in line.split(";")]
        feats.append(parts[:-1])
        labels.append(np.array([parts[-1]]))
    return np.array(feats), labels


lines = [";".join(f"{v:.3f}" for v in np.random.rand(7)) for _ in range(90)]
x, y = parse(lines)  # <~ FIT107

model = keras.Sequential([keras.layers.Dense(8, activation="relu"), keras.layers.Dense(1)])
model.compile("adam", "mse")
model.fit(x, y, epochs=1, verbose=0)  # <- FIT107
