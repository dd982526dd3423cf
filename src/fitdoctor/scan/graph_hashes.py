"""Hashes of rows as TensorFlow operations: workers send eight bytes per row, and the client compares them."""

from __future__ import annotations

from typing import Any

from fitdoctor.scan.graph_statistics import Stats, is_dense

KEY = "all/row_hashes"
_SEEDS = ((20, 1), (20, 2))
_LOW = 0xFFFFFFFF


def compared(specs: list[Any], parts: list[str], batched: bool) -> int | None:
    """Return the component whose rows are compared: the first of x, if it has several numbers per row."""
    index = parts.index("x") if "x" in parts else None
    if index is None or not is_dense(specs[index]):
        return None
    spec = specs[index]
    number = spec.dtype.is_floating or spec.dtype.is_integer or spec.dtype.is_bool
    return index if number and spec.shape.rank is not None and spec.shape.rank > int(batched) else None


def hashes_of_element(tensor: Any, batched: bool) -> Stats:
    """The hashes of the rows of an element: of a batch in one string, whatever its size; of a sample one number.

    Two sums of 32-bit words times fixed numbers of 64 bits, the upper half of each: rows that differ are equal once in
    10¹⁹ pairs.
    """
    import tensorflow as tf

    if tensor.dtype.is_bool:
        tensor = tf.cast(tensor, tf.uint8)
    length = tf.shape(tensor)[0] if batched else 1
    # The number of rows is given, not left to be found out: a batch may have none.
    size = tf.size(tensor) // tf.maximum(length, 1)
    octets = tf.bitcast(tf.reshape(tensor, [length, size]), tf.uint8)
    octets = tf.reshape(octets, [length, size * tensor.dtype.size])
    octets = tf.pad(octets, [[0, 0], [0, -tf.shape(octets)[1] % 4]])
    words = tf.bitcast(tf.reshape(octets, [length, tf.shape(octets)[1] // 4, 4]), tf.uint32)
    wide = tf.cast(words, tf.int64)
    first, second = (_upper_half(wide, seed) for seed in _SEEDS)
    hashes = tf.bitwise.bitwise_or(tf.bitwise.left_shift(first, tf.constant(32, tf.int64)), second)
    return {KEY: tf.io.serialize_tensor(hashes) if batched else hashes[0]}


def _upper_half(words: Any, seed: tuple[int, int]) -> Any:
    import tensorflow as tf

    factors = tf.random.stateless_uniform([tf.shape(words)[1]], seed, None, None, tf.int64)
    total = tf.reduce_sum(words * factors, 1)
    shifted = tf.bitwise.right_shift(total, tf.constant(32, tf.int64))
    return tf.bitwise.bitwise_and(shifted, tf.constant(_LOW, tf.int64))


def hashes_of_group(values: Any) -> Any:
    """Return the hashes of all rows of a group as a NumPy array."""
    import numpy as np
    import tensorflow as tf

    if values.dtype != tf.string:
        return values.numpy().view(np.uint64)
    parts = [tf.io.parse_tensor(one, tf.int64).numpy() for one in values]
    return np.concatenate(parts).view(np.uint64)
