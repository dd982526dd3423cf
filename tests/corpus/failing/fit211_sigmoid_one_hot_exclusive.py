from sklearn.datasets import make_blobs
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from keras.layers import Dense, Input
from keras.models import Sequential

X, y = make_blobs(n_samples=240, centers=4, n_features=5, random_state=11)
X = StandardScaler().fit_transform(X)
Y = OneHotEncoder(sparse_output=False).fit_transform(y.reshape(-1, 1))

network = Sequential([
    Input((5,)),
    Dense(16, activation="relu"),
    Dense(16, activation="relu"),
    Dense(4, activation="sigmoid"),  # <- FIT211
])
network.compile(loss="categorical_crossentropy", optimizer="adam", metrics=["accuracy"])  # <~ FIT211
network.fit(X, Y, epochs=2, batch_size=20, validation_split=0.25, verbose=2)
