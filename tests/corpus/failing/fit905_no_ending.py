import tempfile

import numpy as np
import tensorflow as tf

checkpoint_path = tempfile.mkdtemp() + "/cp-{epoch:04d}.ckpt"  # <- FIT905


def create_model():
    model = tf.keras.Sequential([
        tf.keras.layers.Input((12,)),
        tf.keras.layers.Dense(24, activation="relu"),
        tf.keras.layers.Dense(3),
    ])
    model.compile(optimizer="adam",
                  loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True),
                  metrics=[tf.keras.metrics.SparseCategoricalAccuracy()])
    return model


cp_callback = tf.keras.callbacks.ModelCheckpoint(checkpoint_path, save_weights_only=True, verbose=1)  # <~ FIT905
rng = np.random.default_rng(6)
x = rng.normal(size=(150, 12)).astype("float32")
y = x[:, :3].argmax(axis=1)
create_model().fit(x, y, epochs=2, callbacks=[cp_callback], verbose=2)
