"""Windows of a series: targets within their window, and windows of two parts that overlap."""

from __future__ import annotations

import numpy as np
import pytest

from fitdoctor.collect.windows import shared_windows, target_in_window
from fitdoctor.facts import Unknown

SERIES = np.cumsum(np.random.default_rng(0).normal(size=(400, 2)), axis=0).astype("float32")
LENGTH = 12
WINDOWS = np.stack([SERIES[at : at + LENGTH] for at in range(300)])


@pytest.mark.parametrize(("row", "found"), [(0, (0, 1)), (LENGTH - 1, (LENGTH - 1, 1)), (LENGTH, None)])
def test_a_target_is_found_within_its_window_and_not_behind_it(
    row: int, found: tuple[int, int] | None
) -> None:
    targets = SERIES[row : row + 300, 1]
    assert target_in_window(WINDOWS, targets) == found
    assert target_in_window(WINDOWS, targets.reshape(-1, 1).astype("float64")) == found


def test_windows_of_one_feature_have_no_feature_axis() -> None:
    assert target_in_window(WINDOWS[:, :, 0], SERIES[3:303, 0]) == (3,)


def test_recalling_an_element_of_random_sequences_is_a_task() -> None:
    sequences = np.random.default_rng(1).uniform(size=(300, LENGTH, 1)).astype("float32")
    assert target_in_window(sequences, sequences[:, 2, 0]) is None


def test_classes_are_not_targets_of_windows() -> None:
    classes = (WINDOWS[:, -1, 0] > 0).astype("float32")
    windows = WINDOWS.copy()
    windows[:, 5, 0] = classes
    assert target_in_window(windows, classes) is None


def test_windows_split_at_random_overlap_the_training_windows() -> None:
    order = np.random.default_rng(2).permutation(len(WINDOWS))
    shared = shared_windows(WINDOWS[order[60:]], WINDOWS[order[:60]])
    assert isinstance(shared, int)
    assert shared > 30


def test_windows_split_in_time_overlap_at_the_border_only() -> None:
    assert shared_windows(WINDOWS[:240], WINDOWS[240:]) in (0, 1)
    apart = WINDOWS[:200][::-1].copy(), WINDOWS[240:]
    assert shared_windows(*apart) == 0


def test_rows_of_a_table_are_not_windows() -> None:
    table = np.random.default_rng(3).normal(size=(300, 8)).astype("float32")
    assert isinstance(shared_windows(table[:200], table[200:]), Unknown)
    counts = np.random.default_rng(3).integers(0, 2, size=(300, 8)).astype("float32")
    assert isinstance(shared_windows(counts[:200], counts[200:]), Unknown)


def test_data_without_samples_has_no_target_in_its_windows() -> None:
    assert target_in_window(WINDOWS[:0], SERIES[:0, 0]) is None
