"""Old names in a try, new ones in its except: the program works with Keras 2 and Keras 3."""
import numpy as np
import keras

try:
    opt = keras.optimizers.Adam(lr=0.05)
except (TypeError, ValueError):
    opt = keras.optimizers.Adam(learning_rate=0.05)
try:
    from keras.utils import np_utils
    to_categorical = np_utils.to_categorical
except ImportError:
    from keras.utils import to_categorical

rng = np.random.default_rng(0)
x = rng.normal(size=(200, 3))
y = to_categorical(x.argmax(1), 3)
m = keras.Sequential([keras.layers.Dense(3, activation="softmax")])
m.compile(opt, "categorical_crossentropy", metrics=["accuracy"])
if hasattr(m, "fit_generator"):
    h = m.fit_generator([(x, y)], epochs=20)
else:
    h = m.fit(x, y, epochs=20, verbose=0)
key = "acc" if "acc" in h.history else "accuracy"
print(h.history[key][-1])
