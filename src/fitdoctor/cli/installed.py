"""Which Keras is installed, read from the names of folders: asking importlib.metadata costs more than a lint."""

from __future__ import annotations

import functools
import os
import sys


def keras_major() -> int:
    """The major version of the Keras that a training program would get here; 3 when there is none."""
    if os.environ.get("TF_USE_LEGACY_KERAS", "").lower() in ("1", "true"):
        return 2
    return _installed(tuple(sys.path))


@functools.cache
def _installed(folders: tuple[str, ...]) -> int:
    for folder in folders:
        try:
            names = os.listdir(folder or ".")
        except OSError:
            continue
        for name in names:
            if name.startswith("keras-") and name.endswith(".dist-info"):
                return 2 if name[len("keras-") :].startswith("2.") else 3
    return 3
