"""What the cells of a running notebook say about a state that they do not explain as they stand."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace

import pytest

from fitdoctor.source import running_notebook
from fitdoctor.source.running_notebook import changed_again, seems_replaced


@pytest.fixture
def ran() -> Iterator[list[str]]:
    cells = [""]
    running_notebook.run_from_file(
        shell=SimpleNamespace(history_manager=SimpleNamespace(input_hist_raw=cells))
    )
    yield cells
    running_notebook.run_from_file()


def test_a_cell_that_ran_twice_changed_its_variable_twice(ran: list[str]) -> None:
    ran += ["y = load()", "%%time\ny = y - 1", "model.add(layer)", "%%time\ny = y - 1", "model.add(layer)"]
    assert changed_again(4, 2) == (2, "y")
    assert changed_again(5, 1) == (3, "model")
    assert changed_again(2, 2) is None


def test_a_variable_that_was_assigned_anew_between_two_runs_was_changed_once(ran: list[str]) -> None:
    ran += ["y = load()", "y -= 1", "y = load()", "y -= 1"]
    assert changed_again(4, 1) is None
    ran += ["z = y + 1", "z = y + 1"]
    assert changed_again(6, 1) is None  # a second run gives the same


def test_a_cell_seems_replaced_by_one_like_it_or_one_that_assigns_the_same(ran: list[str]) -> None:
    ran += [
        "test = scaler.fit_transform(test)",
        "def scaled(x):\n    return scaler.fit_transform(x)\nprint(1)",
        "model.fit(train)",
    ]
    assert not seems_replaced(1, 1) and not seems_replaced(2, 2)
    ran.append("test = scaler.transform(test)")
    assert seems_replaced(1, 1) and not seems_replaced(2, 2)
    ran.append("def scaled(x):\n    return scaler.transform(x)\nprint(1)")
    assert seems_replaced(2, 2)
