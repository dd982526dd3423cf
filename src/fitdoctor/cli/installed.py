"""Finds the installed Keras by the names of folders: `importlib.metadata` takes longer than a lint."""

from __future__ import annotations

import functools
import os
import sys

from fitdoctor.facts import Conflict

_LEGACY = "TF_USE_LEGACY_KERAS"


def keras_major() -> int:
    """Return the major version of the Keras that a training program would get here; 3 if there is none."""
    if os.environ.get(_LEGACY, "").lower() in ("1", "true"):
        return 2
    return 2 if _release("keras") and _release("keras") < (3,) else 3


def conflicts_here(legacy_keras: bool) -> tuple[Conflict, ...]:
    """Return the installed packages with which a program that uses `tf.keras` cannot be imported.

    Args:
        legacy_keras: the program uses `tf_keras` instead of Keras 3.
    """
    tensorflow = _release("tensorflow")
    if not tensorflow:
        return ()
    if legacy_keras:
        doubtful = not _release("tf_keras")
    else:
        older_numpy = tensorflow < (2, 18) and _release("numpy") >= (2,)
        doubtful = older_numpy or (tensorflow >= (2, 16) and () < _release("keras") < (3,))
    if not doubtful:
        return ()
    from fitdoctor.collect.versions import fatal_conflicts

    return fatal_conflicts(legacy_keras=legacy_keras)


def installed() -> str:
    """Return the versions that the other functions here depend on, in one line."""
    return repr((keras_major(), sorted(_releases(tuple(sys.path)).items())))


def _release(module: str) -> tuple[int, ...]:
    """Return the first numbers of the version of a module's package; () if it is not installed."""
    return _releases(tuple(sys.path)).get(module, ())


@functools.cache
def _releases(folders: tuple[str, ...]) -> dict[str, tuple[int, ...]]:
    found: dict[str, tuple[int, ...]] = {}
    for folder in folders:
        try:
            names = os.listdir(folder or ".")
        except OSError:
            continue
        for name in names:
            if name.endswith(".dist-info") and name.startswith(
                ("keras-", "tf_keras-", "tensorflow", "numpy-")
            ):
                package, _dash, version = name.removesuffix(".dist-info").partition("-")
                # `tensorflow_cpu` brings `tensorflow`; `tensorflow_hub` does not.
                if package.startswith("tensorflow_") and package not in _TENSORFLOWS:
                    continue
                module = "tensorflow" if package.startswith("tensorflow") else package
                numbers = tuple(int(part) for part in version.split(".")[:2] if part.isdigit())
                found.setdefault(module, numbers)
    return found


_TENSORFLOWS = frozenset(f"tensorflow_{kind}" for kind in ("cpu", "gpu", "intel", "macos", "rocm"))
