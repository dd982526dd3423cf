import keras
import numpy as np
import tensorflow as tf


def compute(model, optimizer, x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(keras.losses.mean_squared_error(y, model(x, training=True)))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


def train(model, optimizer, dataset, epochs):
    optimizer.build(model.trainable_variables)
    for epoch in range(epochs):
        total = 0.0
        for xb, yb in dataset:
            step = tf.function(lambda x, y: compute(model, optimizer, x, y))  # <- FIT412
            total += float(step(xb, yb))
        print(epoch, total)


if __name__ == "__main__":
    rng = np.random.default_rng(3)
    x = rng.normal(size=(128, 4)).astype("float32")
    y = np.sin(x[:, :1])
    net = keras.Sequential([keras.Input((4,)), keras.layers.Dense(12, activation="relu"), keras.layers.Dense(1)])
    data = tf.data.Dataset.from_tensor_slices((x, y)).batch(16)
    train(net, keras.optimizers.Adam(1e-3), data, epochs=2)
