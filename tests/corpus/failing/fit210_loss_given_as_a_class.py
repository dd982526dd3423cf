import tensorflow as tf
import numpy as np

x_train = np.random.rand(200, 28, 28)
y_train = np.random.randint(0, 10, 200)

model = tf.keras.models.Sequential(
    [
        tf.keras.layers.Flatten(input_shape=(28, 28)),
        tf.keras.layers.Dense(128, activation="relu"),
        tf.keras.layers.Dropout(0.2),
        tf.keras.layers.Dense(10),
    ]
)

loss_fn = tf.keras.losses.SparseCategoricalCrossentropy  # <- FIT210

model.compile(
    optimizer="adam",
    loss=loss_fn,  # <~ FIT210
    metrics=["accuracy"],
)

model.fit(x_train, y_train, epochs=2, verbose=0)
