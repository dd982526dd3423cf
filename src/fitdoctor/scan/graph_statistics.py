"""The statistics as TensorFlow operations, part of the pipeline's graph, so that workers compute them.

An element becomes a dict of small tensors of fixed shapes, a group of elements one such dict; the result is a few
kilobytes per group, whatever the size of the data, and is added to tallies that merge without loss.
"""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from typing import Any

from fitdoctor.collect.column_tally import ColumnTally, meet
from fitdoctor.collect.tally import MOST_VALUES, Seen, Tally, see

GROUP = 16
"""Elements whose statistics are joined before they are sent; lost together if a worker dies."""
GROUP_OF_SAMPLES = 256
"""The same if an element is a single sample."""
MOST_AXES = 8
MOST_COLUMNS = 512
KEPT = ("shape", "rank", "row_hashes")
"""The statistics sent separately for each element."""
Stats = dict[str, Any]


def width_of(spec: Any, batched: bool) -> int:
    """Return the number of columns of a tabular component; 0 for any other."""
    shape = getattr(spec, "shape", None)
    if shape is None or shape.rank is None or not is_dense(spec):
        return 0
    if shape.rank != (2 if batched else 1) or shape[-1] is None:
        return 0
    return int(shape[-1]) if 1 < shape[-1] <= MOST_COLUMNS else 0


def is_dense(spec: Any) -> bool:
    """Whether a component is a dense tensor."""
    return type(spec).__name__ == "TensorSpec"


def statistics_of_element(tensors: list[Any], labels: list[bool], batched: bool, specs: list[Any]) -> Stats:
    """Return the statistics of one element, for each component under its number."""
    found: Stats = {}
    for index, (tensor, spec) in enumerate(zip(tensors, specs, strict=True)):
        for name, value in _component(tensor, labels[index], batched, width_of(spec, batched)).items():
            found[f"{index}/{name}"] = value
    return found


def _component(tensor: Any, labels: bool, batched: bool, width: int) -> Stats:
    import tensorflow as tf

    values, rows, shape = _plain(tensor, batched)
    room = MOST_AXES - tf.minimum(tf.size(shape), MOST_AXES)
    known = tf.pad(shape[:MOST_AXES], [[0, room]], constant_values=-1)
    found: Stats = {"rows": rows, "shape": tf.ensure_shape(known, [MOST_AXES]), "rank": tf.size(shape)}
    if not (values.dtype.is_floating or values.dtype.is_integer or values.dtype == tf.bool):
        return found
    exact = values.dtype.is_integer or values.dtype == tf.bool
    numbers = tf.cast(values, tf.int64) if exact else values
    flat = tf.reshape(numbers, [-1])
    finite = None if exact else tf.math.is_finite(flat)
    if finite is None:
        found |= _numbers(flat)
    else:
        # Leaving values out is dear: it is done for an element that needs it.
        whole = tf.reduce_all(finite)
        found |= tf.cond(whole, lambda: _numbers(flat), lambda: _finite_numbers(flat, finite))
    if labels:
        kept = flat if finite is None else tf.boolean_mask(flat, finite)
        found |= _histogram(tf.cast(kept, tf.float64), tf.ones_like(kept, tf.int64))
        found |= _row_sums(tf.cast(numbers, tf.float64))
    if width:
        found |= _columns(tf.reshape(tf.cast(numbers, tf.float64), [-1, width]))
    return found


def _numbers(kept: Any, nan: Any = None, left_out: Any = None) -> Stats:
    """Return the statistics of the finite values."""
    import tensorflow as tf

    none = tf.constant(0, tf.int64)
    exact = kept.dtype.is_integer
    return {
        "nan": none if nan is None else nan,
        "inf": none if left_out is None else left_out,
        "finite": tf.size(kept, tf.int64),
        "minimum": _extreme(kept, tf.reduce_min),
        "maximum": _extreme(kept, tf.reduce_max),
        "total": tf.reduce_sum(tf.cast(kept, tf.float64)),
        "whole": tf.reduce_sum(kept) if exact else none,
        "integral": tf.constant(True) if exact else tf.reduce_all(kept == tf.math.rint(kept)),
    }


def _extreme(kept: Any, reduce: Any) -> Any:
    """Return an extreme as a double; an infinity, which does not count, if there are no values."""
    import tensorflow as tf

    if kept.dtype.is_integer:
        return reduce(tf.cast(kept, tf.float64))
    return tf.cast(reduce(kept), tf.float64)


def _finite_numbers(flat: Any, finite: Any) -> Stats:
    import tensorflow as tf

    nan = tf.math.count_nonzero(tf.math.is_nan(flat), dtype=tf.int64)
    left_out = tf.math.count_nonzero(tf.logical_not(finite), dtype=tf.int64)
    return _numbers(tf.boolean_mask(flat, finite), nan, left_out - nan)


def _plain(tensor: Any, batched: bool) -> tuple[Any, Any, Any]:
    """Return the values, the number of rows and the shape of a dense, ragged or sparse tensor."""
    import tensorflow as tf

    one = tf.constant(1, tf.int64)
    if isinstance(tensor, tf.RaggedTensor):
        return tensor.flat_values, tensor.nrows(tf.int64), tf.reshape(tensor.nrows(tf.int64), [1])
    if isinstance(tensor, tf.SparseTensor):
        return tensor.values, tensor.dense_shape[0] if batched else one, tensor.dense_shape
    shape = tf.shape(tensor, tf.int64)
    return tensor, shape[0] if batched else one, shape


def _histogram(values: Any, weights: Any) -> Stats:
    """Return distinct values and their counts in tensors of fixed length; `many` if they do not fit."""
    import tensorflow as tf

    distinct, where = tf.unique(values)
    number = tf.size(distinct)
    counts = tf.math.unsorted_segment_sum(weights, where, number)
    room = MOST_VALUES
    padding = [[0, tf.maximum(room - number, 0)]]
    return {
        "values": tf.ensure_shape(tf.pad(distinct[:room], padding), [room]),
        "counts": tf.ensure_shape(tf.pad(counts[:room], padding), [room]),
        "many": number > room,
    }


def _row_sums(wide: Any) -> Stats:
    import tensorflow as tf

    if wide.shape.rank is None or wide.shape.rank < 2:
        return {}
    sums = tf.reshape(tf.reduce_sum(wide, -1), [-1])
    whole = tf.math.is_finite(sums)
    sums = tf.boolean_mask(sums, whole)
    filled = tf.boolean_mask(tf.reshape(tf.math.count_nonzero(wide, -1), [-1]), whole)
    return {
        "least_sum": tf.reduce_min(sums),
        "largest_sum": tf.reduce_max(sums),
        "most_filled": tf.reduce_max(filled),
    }


def _columns(table: Any) -> Stats:
    import tensorflow as tf

    bits = tf.bitcast(table, tf.int64)
    rows = tf.shape(bits)[0]
    # Fixed weights for the rows of an element: columns that differ anywhere get other sums.
    weights = tf.random.stateless_uniform([rows], [7, 11], None, None, tf.int64)
    mixed = tf.bitwise.bitwise_xor(bits, tf.bitwise.right_shift(bits, tf.constant(29, tf.int64)))
    return {
        "bad": tf.math.count_nonzero(tf.logical_not(tf.math.is_finite(table)), axis=0, dtype=tf.int64),
        "low": tf.reduce_min(bits, 0),
        "high": tf.reduce_max(bits, 0),
        "hash": tf.reduce_sum(mixed * weights[:, None], 0),
    }


def joined(stats: Stats) -> Stats:
    """Return the statistics of a group, from those of its elements with a leading axis."""
    import tensorflow as tf

    found: Stats = {"elements": tf.cast(tf.shape(next(iter(stats.values())))[0], tf.int64)}
    for key, value in stats.items():
        index, name = key.split("/")
        if name in ("minimum", "least_sum", "low"):
            found[key] = tf.reduce_min(value, 0)
        elif name in ("maximum", "largest_sum", "most_filled", "high"):
            found[key] = tf.reduce_max(value, 0)
        elif name in ("integral",):
            found[key] = tf.reduce_all(value, 0)
        elif name == "hash":
            found[f"{index}/alike"] = _representatives(value)
        elif name == "values":
            found |= {f"{index}/{n}": v for n, v in _joined_histogram(stats, index).items()}
        elif name in KEPT:
            found[key] = value
        elif name not in ("counts", "many"):
            found[key] = tf.reduce_sum(value, 0)
    return found


def _joined_histogram(stats: Stats, index: str) -> Stats:
    import tensorflow as tf

    values = tf.reshape(stats[f"{index}/values"], [-1])
    counts = tf.reshape(stats[f"{index}/counts"], [-1])
    kept = counts > 0
    found = _histogram(tf.boolean_mask(values, kept), tf.boolean_mask(counts, kept))
    found["many"] = tf.logical_or(found["many"], tf.reduce_any(stats[f"{index}/many"]))
    return found


def _representatives(hashes: Any) -> Any:
    """Return, for each column, the first one that is identical in every element of the group."""
    import tensorflow as tf

    same = tf.reduce_all(hashes[:, :, None] == hashes[:, None, :], 0)
    return tf.argmax(tf.cast(same, tf.int32), 1)


# --- back at the client -------------------------------------------------------------------------------------------


def tally_of(stats: dict[str, Any], index: int, labels: bool, dtype: str) -> Tally:
    """Return the tally of one component of a group; rows have no numbers, because workers take turns."""
    prefix = f"{index}/"
    got = {key.removeprefix(prefix): value for key, value in stats.items() if key.startswith(prefix)}
    tally = Tally(rows=int(got["rows"]), labels=labels)
    for shape, rank in zip(got["shape"], got["rank"], strict=True):
        see(tally.shapes, tuple(int(size) for size in shape[: int(rank)]), Seen(1, None))
    see(tally.dtypes, dtype, Seen(int(stats["elements"]), None))
    if "nan" not in got:
        tally.integral, tally.histogram = False, None
        return tally
    tally.nan, tally.inf, tally.finite = int(got["nan"]), int(got["inf"]), int(got["finite"])
    tally.integral = bool(got["integral"])
    whole = int(got["whole"])
    tally.total = (
        Fraction(whole) if dtype.startswith(("int", "uint", "bool")) else Fraction(float(got["total"]))
    )
    if tally.finite:
        tally.extremes(float(got["minimum"]), float(got["maximum"]), None, None)
    if labels and "values" in got:
        pairs = zip(got["values"].tolist(), got["counts"].tolist(), strict=True)
        tally.count_values(None if got["many"] else {value: count for value, count in pairs if count})
    if "least_sum" in got and float(got["least_sum"]) <= float(got["largest_sum"]):
        tally.sums(float(got["least_sum"]), float(got["largest_sum"]), int(got["most_filled"]))
    if "bad" in got:
        tally.columns = _column_tally(got, tally.rows)
    return tally


def _column_tally(got: dict[str, Any], rows: int) -> ColumnTally:
    width = len(got["bad"])
    groups: dict[int, list[int]] = {}
    for column, first in enumerate(got["alike"].tolist()):
        groups.setdefault(first, []).append(column)
    alike = tuple(tuple(group) for group in groups.values() if len(group) > 1)
    return ColumnTally(
        width=width,
        rows=rows,
        nonfinite=Counter({i: int(n) for i, n in enumerate(got["bad"]) if n}),
        constant={i: got["low"][i].tobytes() for i in range(width) if got["low"][i] == got["high"][i]},
        alike=meet(alike, alike),
    )
