"""What an older Keras does otherwise."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version

import pytest

BEFORE_KERAS_3_4 = {
    "test_broken_program_fails_as_declared": {
        **dict.fromkeys(("FIT216", "FIT601", "FIT605", "FIT608"), "does not fail there"),
        **dict.fromkeys(("FIT114", "FIT315", "FIT320", "FIT705"), "raises an exception of another type"),
    },
    "test_found_before_fit": dict.fromkeys(("FIT216", "FIT601", "FIT605"), "does not fail there"),
    "test_found_after_the_failure": {
        **dict.fromkeys(("FIT216", "FIT605", "FIT608"), "does not fail there"),
    },
    "test_run_tells_it_first_with_a_fix_that_runs_clean": {
        **dict.fromkeys(("FIT216", "FIT605", "FIT608"), "does not fail there"),
        "FIT604": "a loop trains there whose optimizer makes its variables late",
    },
}
"""What is otherwise with Keras 3.3 on TensorFlow 2.16, by test and cause; `make test-versions` names each of them."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Say by name what an older Keras does otherwise."""
    try:
        older = tuple(map(int, version("keras").split(".")[:2])) < (3, 4)
    except PackageNotFoundError:
        return
    for item in items if older else ():
        name, _bracket, cause = item.name.partition("[")
        reason = BEFORE_KERAS_3_4.get(name, {}).get(cause.rstrip("]"))
        if reason is not None:
            item.add_marker(pytest.mark.xfail(reason=f"Keras before 3.4: {reason}"))
