from tensorflow import keras

BITS = 4


def parity_table(bits):
    rows, parity = [], []
    for n in range(2 ** bits):
        row = [(n >> b) & 1 for b in range(bits)]
        rows.append(row)
        parity.append(sum(row) % 2)
    return rows, parity


X, y = parity_table(BITS)  # <- FIT107

model = keras.Sequential()
model.add(keras.layers.Input(shape=(BITS,)))
model.add(keras.layers.Dense(16, activation="tanh"))
model.add(keras.layers.Dense(1, activation="sigmoid"))
model.compile(loss="binary_crossentropy", optimizer=keras.optimizers.Adam(0.05), metrics=["accuracy"])
model.fit(X, y, epochs=20, batch_size=4, verbose=0)  # <~ FIT107
print(model.evaluate(X, y, verbose=0))  # <~ FIT107
