"""Remembers which files were found clean: the same files, judged the same way, need no second look.

A run is remembered only if nothing at all was found, so one bit is enough. It is valid as long as fitdoctor, Python,
the options, the configuration and every file are unchanged, compared in full text.
"""

from __future__ import annotations

import os
import sys
import zlib
from collections.abc import Iterator, Sequence

import fitdoctor
from fitdoctor.cli.discover import Found

_SLOTS = 512
"""The number of files in the cache; a new entry replaces an old one."""
_MOST_FILES = 2000
"""The most files of one run; describing more costs more than it saves."""


def describe(files: Sequence[Found], options: Sequence[object]) -> str | None:
    """Return everything that the verdict on these files depends on; None if it cannot be cached."""
    if not 0 < len(files) <= _MOST_FILES:
        return None
    try:
        return "\n".join(_lines(files, options))
    except OSError:
        return None


def _lines(files: Sequence[Found], options: Sequence[object]) -> Iterator[str]:
    yield f"{fitdoctor.__version__} {_stamp()} {sys.version_info} {options!r} {os.getcwd()}"
    yield from sorted({repr(found.config) for found in files})
    for found in files:
        with open(found.path, "rb") as file:
            raw = file.read()
        modified = os.stat(found.path).st_mtime_ns
        yield f"{os.path.abspath(found.path)!r} {len(raw)} {zlib.crc32(raw)} {modified}"


def _stamp() -> str:
    """Return a value that changes whenever our code does. An installed version never changes; a checkout may."""
    root = os.path.dirname(fitdoctor.__file__)
    if "site-packages" in root:
        return root
    total = count = 0
    pending = [root]
    while pending:
        for entry in os.scandir(pending.pop()):
            if entry.is_dir():
                if entry.name != "__pycache__":
                    pending.append(entry.path)
            elif entry.name.endswith(".py"):
                count += 1
                total += entry.stat().st_mtime_ns
    return f"{root} {count} {total}"


def is_known(description: str) -> bool:
    """Whether these files were found clean before."""
    try:
        with open(_slot(description), encoding="utf-8", errors="surrogateescape") as file:
            return file.read() == description
    except OSError:
        return False


def remember(description: str) -> None:
    """Remember that these files are clean, if the cache is writable."""
    path = _slot(description)
    try:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        # Written aside and moved: another process never reads half of it.
        aside = f"{path}.{os.getpid()}"
        with open(aside, "w", encoding="utf-8", errors="surrogateescape") as file:
            file.write(description)
        os.replace(aside, path)
    except OSError:
        return


def _slot(description: str) -> str:
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    number = zlib.crc32(description.encode("utf-8", "surrogateescape")) % _SLOTS
    return os.path.join(base, "fitdoctor", "clean", f"{number:03}")
