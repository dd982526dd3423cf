import numpy as np
import tensorflow as tf
from sklearn.metrics import roc_auc_score

def auc(y_true, y_pred):
    """Area under the curve."""
    # both classes are needed
    truth = y_true.numpy().ravel()  # <- FIT407
    score = y_pred.numpy().ravel()
    if len(np.unique(truth)) < 2:
        return 0.5

    return roc_auc_score(truth, score)

x, y = np.random.rand(64, 4), np.random.randint(0, 2, (64, 1))
m = tf.keras.Sequential([tf.keras.layers.Input((4,)), tf.keras.layers.Dense(1, activation="sigmoid")])
m.compile("adam", "binary_crossentropy", metrics=[auc])
m.fit(x, y, epochs=1, verbose=0)
