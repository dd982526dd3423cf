import keras
import numpy as np
from keras import layers
from sklearn.model_selection import train_test_split


def simulate_claims(n=280):
    rng = np.random.default_rng(44)
    x = rng.normal(size=(n, 4))
    amount = np.exp(0.5 * x[:, 0] + 0.2 * x[:, 1])
    refund = rng.random(n) < 0.05
    amount[refund] *= -1            # refunds are booked as negative claims
    return x.astype("float32"), amount


def transform_target(amount):
    return np.log(amount)  # <- FIT206


x, amount = simulate_claims()
y = transform_target(amount)
x_train, x_val, y_train, y_val = train_test_split(x, y, test_size=0.2, random_state=0)

inp = keras.Input((4,))
out = layers.Dense(1)(layers.Dense(16, activation="relu")(inp))
model = keras.Model(inp, out)
model.compile(optimizer="adam", loss=keras.losses.Huber())
model.fit(x_train, y_train, validation_data=(x_val, y_val), epochs=2, batch_size=28, verbose=2)
