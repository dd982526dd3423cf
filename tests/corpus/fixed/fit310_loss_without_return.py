import numpy as np
import tensorflow as tf
from tensorflow.keras import backend as K


def quantile_loss(q):
    def loss(y_true, y_pred):
        e = y_true - y_pred
        return tf.reduce_mean(tf.maximum(q * e, (q - 1) * e), axis=-1)
    return loss


rng = np.random.RandomState(5)
X = rng.uniform(0, 1, (240, 2)).astype("float32")
y = (X[:, :1] + rng.exponential(0.3, (240, 1))).astype("float32")

for q in (0.1, 0.9):
    tf.keras.utils.set_random_seed(0)
    model = tf.keras.Sequential([
        tf.keras.Input((2,)),
        tf.keras.layers.Dense(16, activation="relu"),
        tf.keras.layers.Dense(1),
    ])
    model.compile(optimizer="adam", loss=quantile_loss(q))
    model.fit(X, y, epochs=2, batch_size=40, verbose=0)
    print(q, (y <= model.predict(X, verbose=0)).mean())
