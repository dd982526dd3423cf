"""One flag decides the activation and from_logits together; both ways are trained."""
import numpy as np
import tensorflow as tf
from tensorflow.keras import layers, losses, metrics

def train(from_logits, many):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(300, 3)).astype("float32")
    y = x.argmax(1) if many else (x[:, 0] > 0).astype(int)
    last = "softmax" if many else "sigmoid"
    units = 3 if many else 1
    out = layers.Dense(units, activation=None if from_logits else last)
    loss = (losses.SparseCategoricalCrossentropy if many else losses.BinaryCrossentropy)(from_logits=from_logits)
    metric = "accuracy" if many else metrics.BinaryAccuracy(threshold=0.0 if from_logits else 0.5)
    m = tf.keras.Sequential([tf.keras.Input((3,)), out])
    m.compile(tf.keras.optimizers.Adam(0.1), loss, metrics=[metric])
    m.fit(x, y, epochs=12, verbose=0)
    return m.evaluate(x, y, verbose=0)[1]

scores = [train(a, b) for a in (True, False) for b in (True, False)]
print(scores)
