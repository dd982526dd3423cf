import numpy as np
import tensorflow as tf
from tensorflow.keras.layers import Dense
from tensorflow.keras.models import Sequential

model = Sequential()
model.add(Dense(8, input_dim=4, activation="relu"))
model.add(Dense(3, activation="softmax"))
model.compile(
    loss="sparse_categorical_crossentropy",
    optimizer=tf.keras.optimizers.legacy.Adam(lr=1e-3, decay=1e-5),
    metrics=["accuracy"],
)
h = model.fit(
    np.random.rand(60, 4),
    np.random.randint(0, 3, 60),
    epochs=2,
    verbose=0,
    workers=1,
    use_multiprocessing=False,
)
print(h.history["accuracy"], model.optimizer.lr)
