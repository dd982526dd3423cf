"""One fork server for the tests that run programs."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.fork_server import ForkServer


@pytest.fixture(scope="session")
def server() -> Iterator[ForkServer]:
    """Runs programs in processes that have TensorFlow already."""
    running = ForkServer()
    yield running
    running.close()
