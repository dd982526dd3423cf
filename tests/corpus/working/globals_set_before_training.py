"""The command line sets a global that a loss reads."""

import argparse
import numpy as np
import tensorflow as tf

alpha = 0.5
strength = 1.0


def set_strength(value):
    global strength
    strength = value


def custom(a, b):
    return strength * alpha * tf.reduce_mean((a - b) ** 2)


def main():
    global alpha
    parser = argparse.ArgumentParser()
    parser.add_argument("--alpha", type=float, default=0.1)
    args = parser.parse_args([])
    alpha = args.alpha
    set_strength(2.0)
    m = tf.keras.Sequential([tf.keras.Input((3,)), tf.keras.layers.Dense(1)])
    m.compile("adam", custom)
    m.fit(np.random.rand(16, 3), np.random.rand(16, 1), verbose=0)


if __name__ == "__main__":
    main()
