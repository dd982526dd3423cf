import numpy as np
import tensorflow as tf
from tensorflow.keras import layers, losses, metrics

rng = np.random.default_rng(4)
x = rng.normal(size=(220, 7)).astype("float32")
y = (x[:, 0] * x[:, 1] > 0).astype("float32")

model = tf.keras.Sequential([
    layers.Input((7,)),
    layers.Dense(32, activation="relu"),
    layers.Dense(1),
])
model.compile(
    optimizer="adam",
    loss=losses.BinaryCrossentropy(from_logits=True),
    metrics=[metrics.BinaryAccuracy(threshold=0.0), metrics.AUC(from_logits=True)],
)
model.fit(x, y[:, None], epochs=2, batch_size=22, verbose=2)
