"""What was run, when, and with which versions: the head of a report."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from fitdoctor.diagnosis import Invocation

_SHOWN = ("tensorflow", "keras", "numpy", "pandas", "scikit-learn")
_LEGACY = "tf_keras"
"""Takes the place of Keras where `TF_USE_LEGACY_KERAS` says so."""


def invocation(
    command: str,
    program: str,
    arguments: Sequence[str],
    started: float,
    seconds: float | None = None,
    versions: Iterable[tuple[str, str]] | None = None,
) -> Invocation:
    """Describe a run.

    Args:
        command: the command of fitdoctor.
        program: the program, or the data of `scan`.
        arguments: what the program was given.
        started: seconds since the epoch.
        seconds: how long it took.
        versions: of what it had loaded; those that are installed here unless given.
    """
    date = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(started))
    known = tuple(versions or ()) or installed_versions()
    return Invocation(
        command, program, tuple(arguments), date, None if seconds is None else round(seconds, 3), known
    )


def installed_versions() -> tuple[tuple[str, str], ...]:
    """The versions of Python and of the packages that matter to training, without importing them."""
    import platform

    from fitdoctor.collect.versions import installed_version

    legacy = os.environ.get("TF_USE_LEGACY_KERAS", "").lower() in ("1", "true")
    known = {name: installed_version(name) for name in (*_SHOWN, _LEGACY)}
    present = {name: version for name, version in known.items() if version is not None}
    return (("python", platform.python_version()), *_chosen(present, legacy))


def _chosen(packages: dict[str, str], legacy: bool) -> Iterator[tuple[str, str]]:
    for name in _SHOWN:
        name = _LEGACY if legacy and name == "keras" else name
        if name in packages:
            yield name, packages[name]


def run_versions(pieces: Iterable[dict[str, Any]]) -> tuple[tuple[str, str], ...]:
    """The versions that the program itself ran with, as its process reported them; empty if it did not get that far."""
    known = [piece["environment"] for piece in pieces if isinstance(piece.get("environment"), dict)]
    if not known:
        return ()
    packages = {str(name): str(version) for name, version in known[-1].get("packages", ())}
    if "tensorflow" not in packages and "tensorflow-cpu" in packages:
        packages["tensorflow"] = packages["tensorflow-cpu"]
    python = [("python", str(known[-1]["python"]))] if known[-1].get("python") else []
    return (*python, *_chosen(packages, bool(known[-1].get("legacy_keras"))))
