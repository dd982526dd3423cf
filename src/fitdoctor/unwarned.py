"""A stretch of our work without warnings, after which Python still knows what it has warned of before.

`warnings.catch_warnings` makes Python forget that: a program would hear again what it was told once.
"""

from __future__ import annotations

import contextlib
import sys
import warnings
from collections.abc import Iterator


@contextlib.contextmanager
def unwarned() -> Iterator[None]:
    """Nothing warns within, and outside nothing warns twice for it."""
    # Beside a program that trains; in a process of our own nobody is listening.
    matters = "tensorflow" in sys.modules or "keras" in sys.modules
    before = _version() if matters else None
    within = None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if matters:
                within = _version()
                # What warns within as well would find it outdated, and drop it.
                _keep_told(before, within)
            yield
    finally:
        if matters:
            _keep_told(within, _version())


def _version() -> object:
    """The number of the filters that Python notes with what was told, and by which it sees that they have changed."""
    registry: dict[object, object] = {}
    showing = vars(warnings)["_showwarnmsg"]
    vars(warnings)["_showwarnmsg"] = _unshown
    try:
        warnings.warn_explicit("", UserWarning, "", 0, registry=registry)  # type: ignore[arg-type]
    except Warning:
        pass  # where the user has warnings raise
    finally:
        vars(warnings)["_showwarnmsg"] = showing
    return registry.get("version")


def _unshown(message: object) -> None:
    pass


def _keep_told(before: object, after: object) -> None:
    if before is None or before == after:
        return
    for module in list(sys.modules.values()):
        try:
            told = object.__getattribute__(module, "__dict__").get("__warningregistry__")
        except AttributeError:  # something else than a module
            continue
        if isinstance(told, dict) and told.get("version") == before:
            told["version"] = after
