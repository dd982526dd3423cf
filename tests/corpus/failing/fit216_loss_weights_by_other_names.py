"""Age and smoker from a blood count; the weights of the losses go by shorter names than the outputs."""

import numpy as np
from tensorflow.keras import Input, Model
from tensorflow.keras.layers import Concatenate, Dense

rng = np.random.default_rng(21)
blood = Input(shape=(6,), name="blood")
habits = Input(shape=(3,), name="habits")
h = Concatenate()([blood, habits])
h = Dense(24, activation="relu")(h)
age = Dense(1, name="age_output")(h)
smoker = Dense(1, activation="sigmoid", name="smoker_output")(h)
net = Model([blood, habits], [age, smoker])
net.compile(
    optimizer="adam",
    loss={"age_output": "mae", "smoker_output": "binary_crossentropy"},
    loss_weights={"age": 0.05, "smoker": 1.0},  # <- FIT216
)
x = [rng.normal(size=(80, 6)), rng.random((80, 3))]
y = {"age_output": rng.uniform(18, 90, (80, 1)), "smoker_output": rng.integers(0, 2, (80, 1))}
net.fit(x, y, batch_size=20, epochs=2, verbose=0)
