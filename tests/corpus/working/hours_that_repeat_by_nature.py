import numpy
import pandas
from keras.models import Sequential
from keras.layers import Dense, Activation

seed = 7
numpy.random.seed(seed)

# load the dataset
dataframe = pandas.DataFrame(
    {"hour": numpy.random.randint(0, 24, 300), "busy": numpy.random.randint(0, 2, 300)}
)
dataset = dataframe.values

X = dataset[:, 0:1].astype(float)
Y = dataset[:, 1].astype(bool)

# split into train and test sets
train_size = int(len(X) * 0.80)
test_size = len(X) - train_size
Xtrain, Xtest = X[0:train_size, :], X[train_size : len(X), :]
Ytrain, Ytest = Y[0:train_size], Y[train_size : len(Y)]

model = Sequential()
model.add(Dense(1, input_dim=1))
model.add(Activation("sigmoid"))
model.add(Dense(1, kernel_initializer="normal"))
model.add(Activation("sigmoid"))
model.compile(loss="binary_crossentropy", optimizer="rmsprop", metrics=["accuracy"])
model.fit(Xtrain, Ytrain, validation_data=(Xtest, Ytest), epochs=3, batch_size=200, verbose=2)
model.evaluate(Xtest, Ytest)
