"""Restores files that the user's program overwrites, moves or deletes while its repairs are tried."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import signal
import stat
import tempfile
import threading
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from fitdoctor.records import dataclass
from fitdoctor.runner.kept_files import FOLDER, INDEX

MOST_BYTES = 2**29
MOST_ENTRIES = 20_000
_SKIPPED = frozenset({"__pycache__", "node_modules", "site-packages"})
_WRITTEN_NATIVELY = re.compile(
    r".*\.(?:h5|hdf5|keras|ckpt|index|pb|tflite|tfrecords?|data-\d+-of-\d+)|checkpoint|events\.out\.tfevents\..*",
    re.IGNORECASE,
)
"""Files that HDF5 and TensorFlow write without Python, so that the child cannot intercept it."""


@dataclass(frozen=True)
class _File:
    """A file as it was before the first run."""

    state: tuple[int, int, int]
    copy: str
    """"" if the file was too large to be copied."""


class FileRestore:
    """The user's files next to the program: those at risk are copied, and restored after each run."""

    def __init__(self, folders: Iterable[str], most: int = MOST_BYTES) -> None:
        self._folders = tuple(dict.fromkeys(os.path.realpath(folder) for folder in folders))
        self._most = most
        self._before: dict[str, _File] = {}
        self._kept = ""
        self.restored: dict[str, None] = {}
        """Restored files, in order."""
        self.lost: dict[str, None] = {}
        """Files that were changed and could not be restored."""
        self.removed: dict[str, None] = {}
        """Files that the program created while training, and that were removed."""

    def __enter__(self) -> FileRestore:
        try:
            self._keep()
        # Ctrl-C: nothing has run yet, and the copies are as large as what they are of.
        except BaseException:
            self.__exit__()
            raise
        return self

    def _keep(self) -> None:
        left = self._most
        for path in _at_risk(self._folders):
            state = _state(path)
            if state is None:
                continue
            copy = ""
            if state[0] <= left:
                left -= state[0]
                copy = self._copied(path)
            self._before[path] = _File(state, copy)

    def __exit__(self, *_: object) -> None:
        if self._kept:
            shutil.rmtree(self._kept, ignore_errors=True)

    def _copied(self, path: str) -> str:
        self._kept = self._kept or tempfile.mkdtemp(prefix="fitdoctor-kept-")
        copy = os.path.join(self._kept, str(len(self._before)))
        try:
            shutil.copy2(path, copy)
        except OSError:
            return ""
        return copy

    def put_back(self, session: Path) -> None:
        """Restore every file that existed before a run.

        Args:
            session: the folder of the run, with the child's copies.
        """
        with _uninterrupted():
            self._remove(_made_by_child(session))
            for path, before in _kept_by_child(session):
                if _state(path) != before.state:
                    self._restore(path, before.copy)
            for path, before in self._before.items():
                # What the child kept is back already, with its time.
                if _state(path) not in (before.state, _state(before.copy)):
                    self._restore(path, before.copy)

    def left(self) -> list[str]:
        """The new files written without Python: their owner is unknown, so they stay."""
        return [
            path for path in _at_risk(self._folders) if path not in self._before and path not in self.restored
        ]

    def _remove(self, made: list[str]) -> None:
        """Remove what a run has created in the user's folders; a folder only if it is empty."""
        for path in sorted(set(made), key=len, reverse=True):
            if not any(path.startswith(folder + os.sep) for folder in self._folders):
                continue
            with contextlib.suppress(OSError):
                if os.path.isdir(path) and not os.path.islink(path):
                    os.rmdir(path)
                else:
                    os.unlink(path)
                    self.removed[path] = None

    def _restore(self, path: str, copy: str) -> None:
        folder, name = os.path.split(path)
        unfinished = os.path.join(folder, f".{name}.fitdoctor")
        try:
            if not copy:
                raise FileNotFoundError
            os.makedirs(folder, exist_ok=True)
            if os.path.exists(path) and os.stat(path).st_nlink > 1:
                shutil.copy2(copy, path)  # its other names stay names of the same file
            else:
                shutil.copy2(copy, unfinished)
                os.replace(unfinished, path)
        except OSError:
            self.lost[path] = None
            with contextlib.suppress(OSError):
                os.unlink(unfinished)
        else:
            self.restored[path] = None


def _at_risk(folders: Iterable[str]) -> Iterator[str]:
    seen = 0
    done: set[str] = set()
    for top in folders:
        for folder, below, names in os.walk(top):
            below[:] = [
                name
                for name in below
                if name not in _SKIPPED and not name.startswith(".") and not _is_environment(folder, name)
            ]
            seen += len(names) + 1
            if seen > MOST_ENTRIES:
                return
            for name in names:
                path = os.path.join(folder, name)
                if _WRITTEN_NATIVELY.fullmatch(name) and path not in done:
                    done.add(path)
                    yield path


def _is_environment(folder: str, name: str) -> bool:
    return os.path.exists(os.path.join(folder, name, "pyvenv.cfg"))


def _state(path: str) -> tuple[int, int, int] | None:
    """Size, time and mode of a plain file."""
    try:
        state = os.lstat(path)
    except OSError:
        return None
    return (state.st_size, state.st_mtime_ns, state.st_mode) if stat.S_ISREG(state.st_mode) else None


def _noted(session: Path) -> Iterator[dict[str, Any]]:
    """Return what the child recorded."""
    try:
        lines = (session / INDEX).read_text("utf-8").splitlines()
    except OSError:
        return
    for line in lines:
        # A child that is killed leaves half a line.
        with contextlib.suppress(ValueError):
            yield json.loads(line)


def _made_by_child(session: Path) -> list[str]:
    return [entry["path"] for entry in _noted(session) if entry.get("new")]


def _kept_by_child(session: Path) -> Iterator[tuple[str, _File]]:
    for entry in _noted(session):
        if not entry.get("new"):
            copy = str(session / FOLDER / entry["copy"]) if entry["copy"] else ""
            yield entry["path"], _File(tuple(entry["state"]), copy)


@contextlib.contextmanager
def _uninterrupted() -> Iterator[None]:
    """Keep a second Ctrl-C from leaving a file half restored."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
