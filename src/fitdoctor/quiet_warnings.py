"""A stretch of our work without warnings, after which Python still knows what it has warned of before.

`warnings.catch_warnings` makes Python forget that: a program would hear again what it was told once.
"""

from __future__ import annotations

import contextlib
import sys
import warnings
from collections.abc import Iterator
from types import ModuleType


@contextlib.contextmanager
def warnings_silenced() -> Iterator[None]:
    """Nothing warns within, and outside nothing warns twice for it."""
    # Beside a program that trains; in a process of our own nobody is listening.
    matters = "tensorflow" in sys.modules or "keras" in sys.modules
    told = _told(_version()) if matters else []
    within = None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if matters:
                within = _version()
                # What warns within as well would find it outdated, and drop it.
                for registry in told:
                    registry["version"] = within
            yield
    finally:
        after = _version() if told else None
        for registry in told:
            if registry.get("version") == within:
                registry["version"] = after


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


def _told(version: object) -> list[dict[object, object]]:
    """What the modules were told that still holds: a look at thousands of them, so without asking each politely."""
    return [
        registry
        for module in list(sys.modules.values())
        if isinstance(module, ModuleType)
        and isinstance(registry := _NAMES(module).get("__warningregistry__"), dict)
        and registry.get("version") == version
    ]


_NAMES = vars(ModuleType)["__dict__"].__get__
"""The names of a module as they are: one that loads itself late would be loaded by asking it."""
