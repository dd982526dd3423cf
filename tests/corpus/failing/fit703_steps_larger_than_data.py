import numpy as np
import tensorflow as tf
from tensorflow.keras.layers import Dense, Input
from tensorflow.keras.models import Sequential

BATCH_SIZE = 32
STEPS_PER_EPOCH = 20  # <~ FIT703

rng = np.random.default_rng(1)
x = rng.normal(size=(320, 5)).astype("float32")
y = (x @ np.array([1.0, -1.0, 0.5, 0.0, 0.2])).astype("float32")
ds = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(320).batch(BATCH_SIZE)  # <- FIT703

model = Sequential([Input((5,)), Dense(10, activation="relu"), Dense(1)])
model.compile(optimizer="adam", loss="mse")
model.fit(ds, epochs=3, steps_per_epoch=STEPS_PER_EPOCH, verbose=2)  # <~ FIT703
