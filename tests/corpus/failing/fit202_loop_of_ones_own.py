import tensorflow as tf
import numpy as np
x = np.random.rand(64, 5).astype("float32")
y = tf.keras.utils.to_categorical(np.random.randint(0, 3, 64), 3)  # <~ FIT202
ds = tf.data.Dataset.from_tensor_slices((x, y)).batch(16)
model = tf.keras.Sequential([tf.keras.layers.Dense(8, activation="relu"), tf.keras.layers.Dense(3)])
loss_fn = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)  # <- FIT202
opt = tf.keras.optimizers.Adam()

@tf.function
def train_step(xb, yb):
    with tf.GradientTape() as tape:
        logits = model(xb, training=True)
        loss = loss_fn(yb, logits)
    grads = tape.gradient(loss, model.trainable_variables)
    opt.apply_gradients(zip(grads, model.trainable_variables))
    return loss

for epoch in range(2):
    for xb, yb in ds:
        loss = train_step(xb, yb)
    print(epoch, float(loss))
