import numpy as np
import tensorflow as tf


def data():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(96, 10, 2)).astype("float32")
    return x, x[:, :, 0].sum(axis=1, keepdims=True) * 0.2


def build():
    return tf.keras.Sequential([tf.keras.Input((10, 2)), tf.keras.layers.LSTM(8), tf.keras.layers.Dense(1)])


x, y = data()
for kwargs in ({"clipnorm": 1.0}, {"clipvalue": 0.5}, {"global_clipnorm": 1.0}):
    model = build()
    model.compile(tf.keras.optimizers.Adam(1e-3, **kwargs), "mse")
    model.fit(x, y, epochs=1, batch_size=24, verbose=0)

model, opt = build(), tf.keras.optimizers.SGD(0.01)
for i in range(0, 96, 24):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(x[i:i + 24], training=True) - y[i:i + 24]))
    grads, norm = tf.clip_by_global_norm(tape.gradient(loss, model.trainable_variables), 1.0)
    opt.apply_gradients(zip(grads, model.trainable_variables))
print(float(loss), float(norm))
