"""Functions of `map` go through tuples and nested dicts."""

import numpy as np
import tensorflow as tf

x = np.random.rand(32, 4).astype("float32")
y = np.random.rand(32, 1).astype("float32")
ds = tf.data.Dataset.from_tensor_slices(((x, x), y))


def scale_all(inputs, y):
    return tuple(i * 2.0 for i in inputs), y


def stack_all(inputs, y):
    total = 0.0
    for i in inputs:
        total += i
    return total, y


ds = ds.map(scale_all).map(stack_all).batch(8)
m = tf.keras.Sequential([tf.keras.Input((4,)), tf.keras.layers.Dense(1)])
m.compile("adam", "mse")
m.fit(ds, verbose=0)

dd = tf.data.Dataset.from_tensor_slices({"a": {"u": x, "v": x}, "y": y})


def copied(element):
    out = {}
    for key, value in element.items():
        if isinstance(value, dict):
            out[key] = copied(value)
        else:
            out[key] = value
    return out


def split(element):
    element = copied(element)
    label = element.pop("y")
    return element["a"]["u"], label


m.fit(dd.map(split).batch(8), verbose=0)


def parts(e):
    e = dict(e)
    inner = dict(e["a"])
    inner["w"] = inner.pop("v") + 1.0
    e["a"] = inner
    return [t for t in e["a"].values()][0], e["y"]


m.fit(dd.map(parts).batch(8), verbose=0)


def flat(pair, y):
    a, b = [t for t in pair]
    return tf.concat([t[None] for t in pair], 0)[0], y


ds = tf.data.Dataset.from_tensor_slices(((x, x), y)).map(flat).batch(8)
m.fit(ds, verbose=0)


def loop_over(batch):
    (a, b), y = batch
    for t in (a, b):
        a = a + t
    return a, y


def one(*batch):
    for t in batch[0]:
        first = t
    return first, batch[1]


m.fit(tf.data.Dataset.from_tensor_slices(((x, x), y)).map(one).batch(8), verbose=0)
