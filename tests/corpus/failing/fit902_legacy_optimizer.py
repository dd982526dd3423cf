import numpy as np
import tensorflow as tf


class Config:
    lr = 1e-3
    clipnorm = 1.0
    epochs = 2


def get_optimizer(cfg):
    # the legacy one was faster on my laptop
    return tf.keras.optimizers.legacy.Adam(learning_rate=cfg.lr, clipnorm=cfg.clipnorm)  # <- FIT902


def main():
    rng = np.random.default_rng(2)
    x = rng.normal(size=(160, 10, 2)).astype("float32")
    y = x[:, :, 0].sum(axis=1) * 0.3
    model = tf.keras.Sequential([tf.keras.Input((10, 2)), tf.keras.layers.GRU(8), tf.keras.layers.Dense(1)])
    model.compile(optimizer=get_optimizer(Config), loss="mse")
    model.fit(x, y, epochs=Config.epochs, batch_size=32, verbose=2)


if __name__ == "__main__":
    main()
