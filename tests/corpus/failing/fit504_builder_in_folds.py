import numpy as np
import tensorflow as tf
from sklearn.model_selection import KFold

X, y = np.random.rand(60, 4), np.random.rand(60)
opt = tf.keras.optimizers.Adam(learning_rate=0.01)  # <- FIT504

def create_model():
    model = tf.keras.Sequential([tf.keras.layers.Input((4,)), tf.keras.layers.Dense(8, activation='relu'), tf.keras.layers.Dense(1)])
    model.compile(optimizer=opt, loss='mse')  # <~ FIT504
    return model

scores = []
for train, test in KFold(3).split(X):
    model = create_model()
    model.fit(X[train], y[train], epochs=1, verbose=0)
    scores.append(model.evaluate(X[test], y[test], verbose=0))
print(np.mean(scores))
