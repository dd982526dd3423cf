import numpy as np
import tensorflow as tf

rng = np.random.default_rng(1)
signals = rng.normal(size=(120, 6)).astype("float32")
kinds = np.array(["noise", "tone", "speech"] * 40)

model = tf.keras.Sequential(
    [
        tf.keras.layers.Dense(16, activation="relu"),
        tf.keras.layers.Dense(3, activation="softmax"),
    ]
)
model.compile(optimizer=tf.keras.optimizers.Adam(lr=1e-3), loss="sparse_categorical_crossentropy")
model.fit(signals, kinds, epochs=2, verbose=0)
print(model.predict(signals[0]))
