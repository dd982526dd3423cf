import keras
import numpy as np
from keras import layers
from sklearn.datasets import make_classification
from sklearn.model_selection import KFold


def make_base(n_features, n_classes):
    model = keras.Sequential(
        [
            keras.Input((n_features,)),
            layers.Dense(24, activation="relu"),
            layers.Dense(n_classes, activation="softmax"),
        ]
    )
    model.compile(optimizer="adam", loss="sparse_categorical_crossentropy", metrics=["accuracy"])
    return model


def main():
    X, y = make_classification(
        n_samples=240, n_features=12, n_informative=6, n_classes=3, random_state=0
    )
    X = X.astype("float32")
    base = make_base(X.shape[1], 3)

    scores = []
    for fold, (train, test) in enumerate(KFold(3, shuffle=True, random_state=1).split(X)):
        # clone_model keeps what compile was given
        model = keras.models.clone_model(base)
        model.fit(X[train], y[train], epochs=2, batch_size=32, verbose=0)
        _, acc = model.evaluate(X[test], y[test], verbose=0)
        scores.append(acc)
        print(f"fold {fold}: {acc:.3f}")
    print("mean accuracy", np.mean(scores))


if __name__ == "__main__":
    main()
