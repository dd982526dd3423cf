import numpy as np
import tensorflow as tf
from sklearn.metrics import roc_auc_score


def area(truth, score):
    truth, score = truth.numpy().ravel(), score.numpy().ravel()
    return roc_auc_score(truth, score) if len(np.unique(truth)) > 1 else 0.5


def auc(y_true, y_pred):
    return tf.ensure_shape(tf.py_function(area, [y_true, y_pred], tf.float32), ())


x, y = np.random.rand(64, 4), np.random.randint(0, 2, (64, 1))
m = tf.keras.Sequential([tf.keras.layers.Input((4,)), tf.keras.layers.Dense(1, activation="sigmoid")])
m.compile("adam", "binary_crossentropy", metrics=[auc])
m.fit(x, y, epochs=1, verbose=0)
