import numpy as np
from sklearn.model_selection import train_test_split
from tensorflow.keras.layers import Dense, Input
from tensorflow.keras.models import Sequential

rng = np.random.default_rng(0)
X = rng.normal(size=(300, 10)).astype("float32")
y = (X[:, 0] * X[:, 1] + 0.5 * rng.normal(size=300) > 0).astype("float32")

X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.3, random_state=42)

model = Sequential([Input((10,)), Dense(32, activation="relu"), Dense(1, activation="sigmoid")])
model.compile(optimizer="adam", loss="binary_crossentropy", metrics=["accuracy"])
model.fit(X_train, y_train, validation_data=(X_test, y_test), epochs=3, batch_size=30, verbose=2)
print(model.evaluate(X_test, y_test, verbose=0))
