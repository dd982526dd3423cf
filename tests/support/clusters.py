"""Clusters on this machine, for tests."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from contextlib import contextmanager


def config(*workers: str, index: int = 0) -> str:
    """A TF_CONFIG."""
    return json.dumps({"cluster": {"worker": list(workers)}, "task": {"type": "worker", "index": index}})


@contextmanager
def listening() -> Iterator[int]:
    """A port where somebody listens."""
    with socket.socket() as other:
        other.bind(("localhost", 0))
        other.listen()
        yield other.getsockname()[1]


def free_port() -> int:
    """A port where nobody listens."""
    with socket.socket() as trial:
        trial.bind(("localhost", 0))
        return int(trial.getsockname()[1])
