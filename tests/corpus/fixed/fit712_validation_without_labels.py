import numpy as np
from tensorflow import keras
from sklearn.model_selection import train_test_split
from sklearn.datasets import make_classification

X, y = make_classification(n_samples=400, n_features=12, random_state=3)
X_train, X_valid, y_train, y_valid = train_test_split(X, y, random_state=3)


def build_model(n_hidden=1, n_neurons=30, learning_rate=3e-3, input_shape=[12]):
    model = keras.models.Sequential()
    model.add(keras.layers.InputLayer(input_shape=input_shape))
    for layer in range(n_hidden):
        model.add(keras.layers.Dense(n_neurons, activation="relu"))
    model.add(keras.layers.Dense(1, activation="sigmoid"))
    optimizer = keras.optimizers.SGD(learning_rate=learning_rate)
    model.compile(loss="binary_crossentropy", optimizer=optimizer)
    return model


model = build_model(n_hidden=2)
early = keras.callbacks.EarlyStopping(patience=3)
history = model.fit(
    X_train, y_train, epochs=3, validation_data=(X_valid, y_valid), callbacks=[early], verbose=0
)
