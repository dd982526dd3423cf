"""One fork server whose `tf.keras` is Keras 2."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.fork_server import ForkServer


@pytest.fixture(scope="session")
def keras_2_server() -> Iterator[ForkServer]:
    pytest.importorskip("tf_keras")
    running = ForkServer({"TF_USE_LEGACY_KERAS": "1"})
    yield running
    running.close()


@pytest.fixture
def legacy(keras_2_server: ForkServer, monkeypatch: pytest.MonkeyPatch) -> ForkServer:
    """Runs programs whose `tf.keras` is Keras 2; what is judged here is judged for it, too."""
    monkeypatch.setenv("TF_USE_LEGACY_KERAS", "1")
    return keras_2_server
