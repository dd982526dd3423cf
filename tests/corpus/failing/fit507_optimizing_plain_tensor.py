import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

# Activation maximisation: which input makes the network say "one"?
rng = np.random.default_rng(3)
x = rng.normal(size=(200, 8)).astype("float32")
y = (x[:, 2] > 0).astype("float32")
model = tf.keras.Sequential([layers.Input((8,)), layers.Dense(12, activation="relu"), layers.Dense(1, activation="sigmoid")])
model.compile("adam", "binary_crossentropy")
model.fit(x, y, epochs=3, verbose=0)

img = tf.random.normal((1, 8))  # <- FIT507
for _ in range(5):
    with tf.GradientTape() as tape:  # <~ FIT507
        score = tf.reduce_sum(model(img))
    g = tape.gradient(score, img)
    g = g / (tf.norm(g) + 1e-8)
    img = img + 0.1 * g
print("score", float(model(img)[0, 0]))
