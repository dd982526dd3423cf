import keras
import numpy as np
from sklearn.datasets import make_classification
from sklearn.metrics import f1_score


def f1(y_true, y_pred):
    return f1_score(y_true, np.round(y_pred))  # <- FIT407


def main():
    X, y = make_classification(n_samples=300, n_features=10, weights=[0.7, 0.3], random_state=3)
    X = X.astype("float32")
    y = y.astype("float32").reshape(-1, 1)
    model = keras.Sequential(
        [keras.Input((10,)), keras.layers.Dense(16, activation="relu"), keras.layers.Dense(1, activation="sigmoid")]
    )
    model.compile(optimizer="adam", loss="binary_crossentropy", metrics=[f1])  # <~ FIT407
    model.fit(X, y, epochs=2, batch_size=30, verbose=2)


if __name__ == "__main__":
    main()
