"""Communication between the parent and the child of `run`: options one way, JSON files in a folder the other way."""

from __future__ import annotations

import itertools
import json
import os
import threading
from pathlib import Path
from typing import Any

from fitdoctor.json_codec import from_plain, to_plain
from fitdoctor.records import dataclass

OPTIONS = "options.json"
NOW = "now.json"
"""The file that names the running call; it is overwritten again and again."""
_NOW_BYTES = 8192
FAULTS = "faults.txt"
"""The file to which the interpreter writes the stack of a crash in native code."""


@dataclass(frozen=True)
class Options:
    """The options of `run` that the child needs."""

    script: str = ""
    """The path as the user gave it; "" if a module is run."""
    module: str = ""
    arguments: tuple[str, ...] = ()
    """The arguments of the program."""
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    keep_going: bool = False
    smoke: bool = False
    trace: bool = False
    tell: str = "text"
    """How findings are printed when they are made: `text`, `concise`, or "" if only the parent reports."""
    colour: bool = False
    verbose: bool = False
    """Print every finding in full."""
    quiet: bool = False
    """Nothing is reported, so the traceback of a stop is all that the user sees."""
    folder: str = ""
    """The working directory that paths are shown relative to."""
    parent: int = 0
    pipes: tuple[int, ...] = ()
    """Where to write while TensorFlow starts, and where the parent confirms that it has read everything."""
    keras: int = 3
    """The major version of Keras to check the source for."""
    cluster: str = ""
    """The folder for the workers of a cluster; "" for the default one."""
    shown_as: str = ""
    """For a copy of the user's script: the path of the script, which the program sees as its name."""
    keep_files: bool = False
    """Copy the files that the program overwrites, moves or deletes: it runs only to try a repair."""
    locate: str = ""
    """When to run the program a second time to find the line that made its data bad: `quick`, `always`, or ""."""
    second: bool = False
    """This is that second run."""
    past_failures: bool = False
    """Go on after a cell that fails: the cells of a live notebook are run again as they were run there."""
    replaced: tuple[tuple[str, str], ...] = ()
    """Modules to load from elsewhere: (the module's file, its copy)."""

    @property
    def name(self) -> str:
        """The name of the program in messages."""
        return self.script or f"-m {self.module}"


@dataclass(frozen=True, eq=False)
class Started:
    """How the program was started, so that it can be run again."""

    options: Options
    environment: dict[str, str]
    began: float
    """By the clock that `time.time` reads."""
    live: bool = False
    """The program is a notebook in a kernel: its cells so far are what is run again."""


def write_options(folder: Path, options: Options) -> None:
    """Write the options for the child."""
    (folder / OPTIONS).write_text(json.dumps(to_plain(options)), encoding="utf-8")


def read_options(folder: Path) -> Options:
    """Return the options that the parent wrote."""
    return from_plain(Options, json.loads((folder / OPTIONS).read_text(encoding="utf-8")))


class Recorder:
    """Writes records into the session's folder, each atomically: the child may die at any moment."""

    def __init__(self, folder: Path, home: str = "") -> None:
        self._folder = folder
        self._home = home or os.getcwd()
        self._numbers = itertools.count(1)
        self._lock = threading.Lock()
        self._now = -1

    def write(self, kind: str, **content: Any) -> None:
        """Add a record; dataclasses in it become plain values."""
        plain = {"kind": kind, **{name: to_plain(value) for name, value in content.items()}}
        here = _working_directory()
        if here != self._home:
            plain = seen_from(plain, self._home, here)
        self._put(self.path(kind), plain)

    def path(self, kind: str) -> Path:
        """Return the path of the next record, for another process that writes it."""
        with self._lock:
            number = next(self._numbers)
        return self._folder / f"{number:06d}-{kind}.json"

    def now(self, **content: Any) -> None:
        """Record which call is running; "" if none is.

        This happens twice per call, even in loops of thousands, so each write overwrites the last one with the same length.
        """
        text = json.dumps(content).encode()
        if len(text) > _NOW_BYTES:
            text = b"{}"
        try:
            with self._lock:
                if self._now < 0:
                    self._now = os.open(self._folder / NOW, os.O_CREAT | os.O_WRONLY, 0o600)
                os.lseek(self._now, 0, os.SEEK_SET)
                os.write(self._now, text.ljust(_NOW_BYTES))
        except OSError:
            return

    def _put(self, path: Path, plain: Any) -> None:
        unfinished = path.with_suffix(f".{threading.get_ident()}")
        try:
            unfinished.write_text(json.dumps(plain), encoding="utf-8")
            os.replace(unfinished, path)
        except OSError:
            # A full disk, or a temporary folder that was swept: the program goes on, only the report is poorer.
            return


def read_pieces(folder: Path) -> list[dict[str, Any]]:
    """Return all records in the order in which they were written, skipping unreadable ones."""
    pieces = []
    for path in sorted(folder.glob("*-*.json")):
        try:
            piece = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            continue
        if isinstance(piece, dict):
            pieces.append(piece)
    return pieces


def read_now(folder: Path) -> dict[str, Any]:
    """Return the call that was running when the child ended; empty if there was none."""
    try:
        now = json.loads((folder / NOW).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return now if isinstance(now, dict) else {}


def _working_directory() -> str:
    try:
        return os.getcwd()
    except OSError:  # the program removed the folder that it stands in
        return ""


def seen_from(plain: Any, home: str, here: str) -> Any:
    """Return plain facts with paths relative to `home` instead of `here`."""
    if isinstance(plain, list):
        return [seen_from(item, home, here) for item in plain]
    if not isinstance(plain, dict):
        return plain
    moved = {name: seen_from(value, home, here) for name, value in plain.items()}
    path = moved.get("path")
    if isinstance(path, str) and isinstance(moved.get("line"), int) and not path.startswith("<"):
        absolute = os.path.normpath(os.path.join(here, path))
        below = home.rstrip(os.sep) + os.sep
        moved["path"] = absolute[len(below) :] if absolute.startswith(below) else absolute
    return moved
