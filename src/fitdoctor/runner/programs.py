"""The running program: which frames and files are the user's."""

from __future__ import annotations

import functools
import os
import sys
import sysconfig
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING

from fitdoctor.failure.frames import is_library

if TYPE_CHECKING:
    from fitdoctor.source.project import Project

MOST_FILES = 200


def user_frame(frame: FrameType | None) -> FrameType | None:
    """Return the innermost frame of the user's code."""
    while frame is not None and _library(frame.f_code.co_filename):
        frame = frame.f_back
    return frame


@functools.lru_cache(maxsize=4096)
def _library(path: str) -> bool:
    return is_library(path)


def user_project(keras: int = 3) -> Project:
    """The user's own source as it is loaded now: the cells of the notebook that runs, and files."""
    from fitdoctor.source.project import read_project
    from fitdoctor.source.running_notebook import notebook_source

    notebook = notebook_source(keras)
    return read_project([*([notebook] if notebook is not None else []), *user_files()], keras)


def user_files() -> list[Path]:
    """The source files of the user's own modules that are loaded, the program itself first."""
    installed = _installed()
    found: dict[str, None] = {}
    for module in [sys.modules.get("__main__"), *list(sys.modules.values())]:
        try:
            # Not through the module: some load themselves when an attribute is read.
            path = object.__getattribute__(module, "__dict__").get("__file__")
        except AttributeError:
            continue
        if (
            isinstance(path, str)
            and path.endswith(".py")
            and not path.startswith(installed)
            and not _library(path)
            and os.path.isfile(path)
        ):
            found.setdefault(os.path.normpath(path))
    return [Path(path) for path in list(found)[:MOST_FILES]]


@functools.cache
def _installed() -> tuple[str, ...]:
    names = ("stdlib", "platstdlib", "purelib", "platlib")
    return tuple(sorted({sysconfig.get_path(name) + os.sep for name in names}))
