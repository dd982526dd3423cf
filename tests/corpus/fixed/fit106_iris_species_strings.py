import io

import numpy as np
import pandas as pd
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import LabelEncoder, StandardScaler
from tensorflow.keras.layers import Dense, Input
from tensorflow.keras.models import Sequential

rng = np.random.default_rng(1)
names = ["setosa", "versicolor", "virginica"]
lines = ["sepal_length,sepal_width,petal_length,petal_width,species"]
for i in range(150):
    k = i % 3
    v = rng.normal([5 + k * 0.7, 3.4 - k * 0.2, 1.5 + k * 2, 0.3 + k * 0.8], 0.3)
    lines.append(",".join(f"{a:.1f}" for a in v) + "," + names[k])
iris = pd.read_csv(io.StringIO("\n".join(lines)))

X = iris.iloc[:, :4].values
y = LabelEncoder().fit_transform(iris["species"])

X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.2, random_state=42)
scaler = StandardScaler()
X_train = scaler.fit_transform(X_train)
X_test = scaler.transform(X_test)

model = Sequential([
    Input(shape=(4,)),
    Dense(10, activation="relu"),
    Dense(3, activation="softmax"),
])
model.compile(optimizer="adam", loss="sparse_categorical_crossentropy", metrics=["accuracy"])
model.fit(X_train, y_train, epochs=2, batch_size=10, validation_data=(X_test, y_test))
