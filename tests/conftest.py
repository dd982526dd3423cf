"""Keeps the tests without TensorFlow quick: those with it are not even imported then, and what is there is not searched."""

from __future__ import annotations

import gc
import os
import re
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from tests.support.fork_server import ForkServer

# How long an example takes says what else the machine does; where time matters, a test says how much. At a desk each run
# draws other examples; in CI the same ones, so that what is refused there fails again when it is looked at.
settings.register_profile("any machine", deadline=None, derandomize="CI" in os.environ)
settings.load_profile("any machine")

# A shell has its background jobs ignore Ctrl-C, and what they start inherits that: there are tests that send it.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def server() -> Iterator[ForkServer]:
    """Runs programs in processes that have TensorFlow already."""
    running = ForkServer()
    yield running
    running.close()


NEEDS_TENSORFLOW = re.compile(r"^pytestmark = \[?\s*pytest\.mark\.tf\b", re.MULTILINE)


LONGEST = frozenset(
    {
        "test_a_repair_that_hangs_is_not_taken",
        "test_the_wrong_one_of_two_workers_is_named_by_the_chief",
        "test_training_is_the_same_after_a_prediction_of_its_memory",
        "test_it_is_explained_after",
        "test_writing_keeps_a_backup_and_a_second_time_changes_nothing",
        "test_a_healthy_program_learns_the_same_to_the_bit_and_hears_nothing",
        "test_no_working_program_has_a_refused_layer",
        "test_every_failing_program_is_followed_to_its_end",
    }
)
"""They come first: what begins last should be short, so that all processes end together."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the tests that take longest."""
    items.sort(key=lambda item: getattr(item, "originalname", item.name) not in LONGEST)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave out a file whose every test is marked `tf`, by what it says at its top."""
    if not _without_tensorflow(config) or collection_path.suffix != ".py":
        return None
    return True if NEEDS_TENSORFLOW.search(collection_path.read_text("utf-8")) else None


def pytest_collection_finish(session: pytest.Session) -> None:
    """Thousands of tests are no garbage, and syntax trees make none: looking for it took a quarter of the time.

    With TensorFlow there are tests that look at all objects there are, which must find these too.
    """
    if _without_tensorflow(session.config):
        gc.freeze()
        gc.set_threshold(200_000, 10, 10)


def _without_tensorflow(config: pytest.Config) -> bool:
    return config.option.markexpr.startswith("not tf")
