"""Rows that training and validation share."""

from __future__ import annotations

import pytest

from fitdoctor.scan.shared_rows import RowMatch

np = pytest.importorskip("numpy")


def shared(training, validation, **options):
    match = RowMatch(**options)
    for part in np.array_split(validation, 3):
        match.take(part)
    match.turn()
    for part in np.array_split(training, 5):
        match.take(part)
    return match.shared()


def rows(number, seed=0):
    return np.random.default_rng(seed).standard_normal((number, 6)).astype("float32")


def test_equal_rows_are_counted_wherever_they_stand():
    x = rows(1000)
    assert shared(x, rows(300, 1)) == 0
    assert shared(x, np.concatenate([x[700:950], rows(50, 2)])) == 250
    assert shared(x, np.concatenate([x[:5], x[:5]])) == 10


def test_more_validation_rows_than_are_kept_are_estimated_from_a_fair_part():
    x = rows(40_000)
    found = shared(x[:20_000], x, most=1000)
    assert found == pytest.approx(20_000, rel=0.2)


def test_data_that_repeats_by_nature_is_not_judged():
    dice = np.random.default_rng(0).integers(0, 3, (2000, 3))
    assert shared(dice[:1500], dice[1500:]) == "rows of this data naturally repeat"


def test_what_cannot_be_compared_is_said():
    assert "shape or type" in shared(rows(20), rows(20).astype("float64"))
    assert "one value" in shared(rows(20)[:, 0], rows(20)[:, 0])
    assert "no rows" in shared(rows(20), rows(0))
