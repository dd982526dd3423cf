"""Labels of the rows that `validation_split` takes."""

from __future__ import annotations

import numpy as np
import pytest

from fitdoctor.collect.class_split import split_off
from fitdoctor.facts import SplitOff

SORTED = np.repeat(np.arange(4), 50)


def test_the_last_class_of_sorted_rows_is_held_out() -> None:
    assert split_off(SORTED, 0.25) == SplitOff(50, ("3",), are_new=True)
    assert split_off(SORTED[:, None], 0.25) == SplitOff(50, ("3",), are_new=True)
    assert split_off(np.eye(4)[SORTED], 0.25) == SplitOff(50, ("3",), are_new=True)


def test_a_part_of_one_class_says_nothing_about_the_others() -> None:
    assert split_off(np.repeat([0.0, 1.0], 100), 0.2) == SplitOff(40, ("1.0",), are_new=False)


@pytest.mark.parametrize(
    "labels",
    [
        np.random.default_rng(0).permutation(SORTED),
        np.tile(np.arange(4), 50),
        np.arange(200),  # a count, such as passengers per month
        np.r_[np.zeros(190), np.ones(4), np.zeros(6)],  # a rare class
        np.r_[np.ones(10), np.zeros(190)],  # nearly all rows have that class anyway
        np.linspace(0, 1, 200),
        [0] * 100 + [1] * 100,
        None,
    ],
)
def test_other_orders_show_no_reason(labels: object) -> None:
    assert split_off(labels, 0.2) is None


def test_without_a_split_nothing_is_taken() -> None:
    assert split_off(SORTED, 0.0) is None
