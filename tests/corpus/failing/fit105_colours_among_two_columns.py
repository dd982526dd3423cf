import numpy as np
import pandas as pd
from sklearn.model_selection import train_test_split
from keras.models import Sequential
from keras.layers import Dense
df = pd.DataFrame({"size": np.random.rand(60), "color": np.random.choice(["red", "green", "blue"], 60), "sold": np.random.randint(0, 2, 60)})
X = df.drop("sold", axis=1)  # <- FIT105
y = df["sold"].values
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.2)
m = Sequential()
m.add(Dense(4, activation="relu", input_dim=2))
m.add(Dense(1, activation="sigmoid"))
m.compile("adam", "binary_crossentropy")
m.fit(X_train, y_train, epochs=1, validation_data=(X_test, y_test), verbose=0)
