import numpy as np
import pandas as pd
from sklearn.model_selection import train_test_split
from tensorflow.keras.models import Sequential
from tensorflow.keras.layers import Conv1D, MaxPooling1D, Flatten, Dense
from tensorflow.keras.utils import to_categorical

df = pd.DataFrame(np.random.default_rng(0).random((200, 188)))
df[187] = np.random.randint(0, 5, 200)
X = df.iloc[:, :187].values
y = to_categorical(df[187], 5)
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.2, random_state=0)

model = Sequential()
model.add(Conv1D(16, 6, activation="relu", input_shape=X_train.shape[1:]))  # <- FIT102
model.add(MaxPooling1D(3))
model.add(Flatten())
model.add(Dense(5, activation="softmax"))
model.compile(optimizer="adam", loss="categorical_crossentropy", metrics=["accuracy"])
model.fit(X_train, y_train, epochs=2, validation_data=(X_test, y_test))
