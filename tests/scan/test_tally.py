"""Statistics taken in parts, in any order, are the statistics of the whole."""

from __future__ import annotations

import itertools
import math
import random
from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fitdoctor.collect.column_tally import ColumnTally, meet, merged_columns
from fitdoctor.collect.tally import MOST_SHAPES, Place, Seen, Tally, least, merged, see

np = pytest.importorskip("numpy")

FEW = st.sampled_from([0.0, 1.0, 2.5, -3.0, 1e30, math.nan, math.inf, -math.inf, -0.0])
TABLES = st.integers(1, 4).flatmap(
    lambda width: st.lists(st.lists(FEW, min_size=width, max_size=width), min_size=1, max_size=40)
)
DTYPES = st.sampled_from(["float32", "float64", "float16", "int8", "int64", "uint8", "uint64", "bool"])


def table(rows, dtype):
    array = np.array(rows)
    if dtype.startswith("float"):
        with np.errstate(all="ignore"):
            return array.astype(dtype)
    return np.nan_to_num(array, nan=3, posinf=7, neginf=0).clip(0, 100).astype(dtype)


def tally_of(array, row=0, labels=True):
    from fitdoctor.collect.tally_arrays import add

    tally = Tally(labels=labels)
    add(tally, array, row, lambda at: at // 3)
    tally.saw(array.shape[1:], str(array.dtype), row // 3)
    return tally


def same(one, other):
    """Equal but for the rounding of sums of the parts, and for how often shapes were noted."""
    assert float(one.total) == pytest.approx(float(other.total), rel=1e-6, abs=1e-6)
    blank = {"total": Fraction(0), "shapes": {}, "dtypes": {}}
    assert replace(one, **blank) == replace(other, **blank)


@settings(max_examples=60, deadline=None)
@given(TABLES, DTYPES, st.randoms(use_true_random=False))
def test_parts_in_any_order_make_the_whole(rows, dtype, rng: random.Random):
    array = table(rows, dtype)
    cuts = sorted({0, len(array), *(rng.randrange(len(array) + 1) for _ in range(3))})
    parts = [tally_of(array[a:b], a) for a, b in itertools.pairwise(cuts)]
    rng.shuffle(parts)
    while len(parts) > 1:
        parts.append(merged(parts.pop(0), parts.pop(rng.randrange(len(parts)))))
    same(parts[0], tally_of(array))


def test_a_row_that_has_no_sum_is_not_counted_as_filled():
    array = np.array([[0.0, 0.0], [1.0, math.nan]], "float32")
    parts = merged(tally_of(array[:1]), tally_of(array[1:], 1))
    same(parts, tally_of(array))
    assert parts.row_filled == 0


@settings(max_examples=60, deadline=None)
@given(TABLES, DTYPES)
def test_they_are_what_numpy_says(rows, dtype):
    array = table(rows, dtype)
    tally = tally_of(array)
    wide = array.astype("float64")
    finite = wide[np.isfinite(wide)]
    assert tally.rows == len(array)
    assert tally.nan == np.isnan(wide).sum() and tally.inf == np.isinf(wide).sum()
    assert tally.finite == finite.size
    assert tally.minimum == (finite.min() if finite.size else None)
    assert tally.maximum == (finite.max() if finite.size else None)
    if finite.size:
        assert tally.mean == pytest.approx(finite.mean(), rel=1e-6, abs=1e-6)
        assert tally.integral == bool((finite == np.rint(finite)).all())
        assert tally.first_maximum == np.argwhere(wide == finite.max())[0][0]
        assert tally.first_minimum == np.argwhere(wide == finite.min())[0][0]
        values, counts = np.unique(finite, return_counts=True)
        assert dict(tally.histogram) == dict(zip(values.tolist(), counts.tolist(), strict=True))
    bad = np.argwhere(~np.isfinite(wide))
    place = tally.first_nonfinite
    assert (place is None) == (not len(bad))
    if place is not None:
        assert (place.row, *place.index) == tuple(bad[0])
        assert place.element == bad[0][0] // 3


@settings(max_examples=60, deadline=None)
@given(TABLES, DTYPES)
def test_merging_does_not_depend_on_the_side(rows, dtype):
    array = table(rows, dtype)
    half = len(array) // 2
    one, other = tally_of(array[:half]), tally_of(array[half:], half)
    assert merged(one, other) == merged(other, one)
    assert merged(one, Tally(labels=True)) == one


def test_the_sum_of_many_parts_is_exact():
    parts = [tally_of(np.array([[value]])) for value in (1e300, 1.0, -1e300)]
    assert merged(merged(parts[0], parts[1]), parts[2]).total == 1
    assert tally_of(np.full((3, 1), 1.7e308)).mean == pytest.approx(1.7e308)
    assert tally_of(np.full((300, 1), 3e38, "float32")).mean == pytest.approx(3e38, rel=1e-6)
    assert tally_of(np.full((5, 1), 2**64 - 1, "uint64")).total == 5 * (2**64 - 1)


def test_blocks_and_lanes_end_where_the_data_ends():
    from fitdoctor.collect.tally_arrays import BLOCK_BYTES

    for size in (1, 255, 256, 257, BLOCK_BYTES // 4, BLOCK_BYTES // 4 + 1, BLOCK_BYTES // 2 + 77):
        values = np.arange(size, dtype="float32")
        tally = tally_of(values, labels=False)
        assert (tally.finite, tally.minimum, tally.maximum) == (size, 0, size - 1)
        assert tally.mean == pytest.approx((size - 1) / 2, rel=1e-6)
        values[-1] = np.nan
        assert tally_of(values, 10, labels=False).first_nonfinite == Place(9 + size, (), (9 + size) // 3)


@pytest.mark.parametrize("dtype", ["uint8", "int8", "uint16", "int16", "int32", "int64", "uint64", "bool"])
def test_sums_of_whole_numbers_are_exact(dtype):
    top = 1 if dtype == "bool" else np.iinfo(dtype).max
    for size in (1024, 5000):
        assert tally_of(np.full(size, top, dtype), labels=False).total == size * int(top)


def test_many_labels_have_no_histogram():
    assert tally_of(np.arange(5000)).histogram is None
    assert merged(tally_of(np.arange(1000)), tally_of(np.arange(1000, 2000))).histogram is None
    assert len(tally_of(np.arange(1000) % 7).histogram) == 7


def test_strings_and_objects_are_counted_by_what_is_missing():
    tally = tally_of(np.array(["a", None, float("nan"), "b"], object), 5)
    assert (tally.rows, tally.missing, tally.first_nonfinite.row) == (4, 2, 6)
    assert tally_of(np.array(["a", "b"])).rows == 2


def test_shapes_beyond_the_bound_are_counted_together():
    seen = {}
    for number in range(MOST_SHAPES + 10):
        see(seen, (number,), Seen(1, number))
    assert len(seen) == MOST_SHAPES + 1 and seen["others"] == Seen(10, MOST_SHAPES)
    assert least(None, 3) == 3 and least(4, 3) == 3 and least(None, None) is None


# --- columns -------------------------------------------------------------------------------------------------------

GROUPS = st.lists(st.integers(0, 3), min_size=6, max_size=6).map(
    lambda marks: tuple(
        group for m in range(4) if len(group := tuple(i for i, k in enumerate(marks) if k == m)) > 1
    )
)


@given(GROUPS, GROUPS, GROUPS)
def test_meeting_of_groups_is_orderless(one, two, three):
    assert meet(one, two) == meet(two, one)
    assert meet(meet(one, two), three) == meet(one, meet(two, three))
    assert meet(one, one) == tuple(sorted(one))


@settings(max_examples=50, deadline=None)
@given(st.lists(st.lists(st.integers(0, 1), min_size=5, max_size=5), min_size=2, max_size=100), st.data())
def test_equal_and_constant_columns_are_found_in_parts(rows, data):
    bits = np.array(rows, "uint64")
    cut = data.draw(st.integers(1, len(bits) - 1))
    one, other = ColumnTally(5), ColumnTally(5)
    one.compare(bits[:cut])
    other.compare(bits[cut:])
    both = merged_columns(one, other)
    constant = {i for i in range(5) if (bits[:, i] == bits[0, i]).all()}
    assert set(both.constant) == constant
    alike = {frozenset(j for j in range(5) if (bits[:, i] == bits[:, j]).all()) for i in range(5)}
    assert {frozenset(group) for group in both.alike} == {group for group in alike if len(group) > 1}


def test_nan_equals_nan_in_columns():
    x = np.array([[np.nan, np.nan, 1.0], [2.0, 2.0, 1.0]])
    columns = tally_of(x).columns
    assert columns.alike == ((0, 1),) and set(columns.constant) == {2} and columns.nonfinite == {0: 1, 1: 1}
