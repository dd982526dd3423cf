import numpy as np
import tensorflow as tf

model = tf.keras.Sequential([tf.keras.Input((8,)), tf.keras.layers.Dense(32, activation="relu"), tf.keras.layers.Dense(1)])
optimizer = tf.keras.optimizers.Adam(1e-3)
mse = tf.keras.losses.MeanSquaredError()

rng = np.random.default_rng(0)
X = rng.normal(size=(512, 8)).astype("float32")
Y = X[:, :1] * X[:, 1:2]
ds = tf.data.Dataset.from_tensor_slices((X, Y)).batch(64)

all_losses, all_preds = [], []
for epoch in range(3):
    for xb, yb in ds:
        with tf.GradientTape() as tape:
            pred = model(xb, training=True)
            loss = mse(yb, pred)
        grads = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(grads, model.trainable_variables))
        all_losses.append(loss)  # <~ FIT804
        all_preds.append(pred)  # <- FIT804
    print(epoch, float(all_losses[-1]))
