import numpy as np
import tensorflow as tf



def get_model(n_in):
    model = tf.keras.Sequential()
    model.add(tf.keras.layers.Input((n_in,)))
    model.add(tf.keras.layers.Dense(20, activation="relu"))
    model.add(tf.keras.layers.Dense(1))
    model.compile(optimizer=tf.keras.optimizers.Adam(0.01), loss="mse")
    return model


def main():
    gen = np.random.default_rng(7)
    x = gen.uniform(-1, 1, (200, 3)).astype("float32")
    y = x[:, 0] * x[:, 1] + x[:, 2]
    model = get_model(3)
    model.fit(x, y, epochs=3, batch_size=32, verbose=2)
    print(model.predict(x[:2], verbose=0))


if __name__ == "__main__":
    main()
