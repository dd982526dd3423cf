import numpy as np
from sklearn.datasets import make_blobs
from tensorflow import keras

X, y = make_blobs(n_samples=200, centers=2, cluster_std=1.5, random_state=4)
X = (X - X.mean(axis=0)) / X.std(axis=0)
y = np.where(y == 0, -1.0, 1.0)

svm = keras.Sequential([
    keras.Input((2,)),
    keras.layers.Dense(1, kernel_regularizer=keras.regularizers.L2(1e-3)),
])
svm.compile(optimizer=keras.optimizers.SGD(0.05), loss="hinge")
svm.fit(X, y, epochs=3, batch_size=20, verbose=2)
print("accuracy", np.mean(np.sign(svm.predict(X, verbose=0).ravel()) == y))
