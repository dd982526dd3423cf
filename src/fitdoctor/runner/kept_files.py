"""Copies each file that a program under trial is about to overwrite, move or delete.

From the program's first Keras call on, it also records the names of files that the program creates: after two training
steps they are worthless, and the next run would find them. Files created earlier (downloads, prepared tables) stay.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import shutil
import stat
import sys
import threading
import time
from pathlib import Path
from typing import Any

from fitdoctor.runner.session import NOW

FOLDER = "kept"
INDEX = "kept.jsonl"
MOST_BYTES = 2**30
"""The most bytes kept per run; a program may not overwrite a file beyond that."""

_CACHE = f"{os.sep}__pycache__{os.sep}"
_WRITES = os.O_TRUNC | os.O_WRONLY | os.O_RDWR


class Keeper:
    """Copies files into the session's folder, each once, and records which."""

    def __init__(self, folder: Path, most: int = MOST_BYTES) -> None:
        self._folder = folder / FOLDER
        self._folder.mkdir(exist_ok=True)
        self._index = os.open(folder / INDEX, os.O_CREAT | os.O_WRONLY | os.O_APPEND, 0o600)
        self._left = most
        self._began = time.time_ns()
        self._seen: set[str] = set()
        self._copied: set[str] = set()
        self._own = os.path.realpath(folder) + os.sep
        self._under_way = folder / NOW
        # Reentrant: what is copied here is opened, too, and comes by the hook again.
        self._lock = threading.RLock()
        self._busy = False

    def hook(self, event: str, arguments: tuple[Any, ...]) -> None:
        """The function for `sys.addaudithook`.

        Raises:
            OSError: the file is too large to be copied, so the program may not overwrite it.
        """
        if event == "open":
            path, _mode, flags = arguments
            if not isinstance(flags, int) or not flags & _WRITES:
                return
            if flags & os.O_CREAT:
                self._note_new(path)
            if not flags & os.O_EXCL:
                self._keep(path, in_place=not flags & os.O_TRUNC)
        elif event == "os.mkdir" and arguments[2] in (-1, None):
            self._note_new(arguments[0])
        elif event == "os.remove" and arguments[1] in (-1, None):
            self._keep(arguments[0])
        elif event == "os.rename" and arguments[2] in (-1, None) and arguments[3] in (-1, None):
            self._keep(arguments[0])
            self._keep(arguments[1])
            if self._is_safe(arguments[0]):
                self._note_new(arguments[1])
        elif event == "os.truncate":
            self._keep(arguments[0])
        elif event == "shutil.rmtree":
            self._keep_tree(arguments[0])

    def _note_new(self, path: Any) -> None:
        """Record a file or folder that is about to be created."""
        if isinstance(path, int) or self._busy:
            return
        real = os.path.realpath(os.fsdecode(path))
        if (
            os.path.lexists(real)
            or real.startswith(self._own)
            or _CACHE in real
            or not self._under_way.exists()
        ):
            return
        os.write(self._index, json.dumps({"path": real, "new": True}).encode() + b"\n")

    def _is_safe(self, path: Any) -> bool:
        """Whether the program created the file, or the file was copied, so that its new name may be removed."""
        with contextlib.suppress(OSError):
            state = os.lstat(path)
            made_since = state.st_ctime_ns >= self._began
            copied = os.path.realpath(os.fsdecode(path)) in self._copied
            return stat.S_ISREG(state.st_mode) and (made_since or copied)
        return False

    def _keep_tree(self, path: Any) -> None:
        for folder, _folders, names in os.walk(os.fspath(path)):
            for name in names:
                self._keep(os.path.join(folder, name))

    def _keep(self, path: Any, in_place: bool = False) -> None:
        """Copy a file before it is overwritten.

        Args:
            path: the path as the program passed it.
            in_place: the file is opened without truncation, perhaps only to be read, such as a mapped array; if it
                is too large to be copied, it is recorded, and reported if it changes.
        """
        if isinstance(path, int):
            return
        real = os.path.realpath(os.fsdecode(path))
        with self._lock:
            if self._busy or real in self._seen or real.startswith(self._own):
                return
            size = self._size(real)
            if size > self._left and not in_place:
                raise OSError(errno.EFBIG, "file too large for `fitdoctor fix` to back up", real)
            self._seen.add(real)
            if size < 0:
                return
            if size > self._left:
                self._note(real, "")
                return
            self._left -= size
            self._busy = True
            try:
                self._copy(real)
            finally:
                self._busy = False

    def _size(self, path: str) -> int:
        """Return the size of a regular file that existed before the program; -1 for anything else."""
        try:
            state = os.lstat(path)
        except OSError:
            return -1
        made_since = state.st_ctime_ns >= self._began
        return -1 if made_since or not stat.S_ISREG(state.st_mode) else state.st_size

    def _copy(self, real: str) -> None:
        # A program that forks keeps files in several processes.
        name = f"{os.getpid()}-{len(self._seen)}"
        try:
            shutil.copy2(real, self._folder / name)
        except PermissionError:
            return  # who cannot read it cannot be trusted to put it back
        self._copied.add(real)
        self._note(real, name)

    def _note(self, real: str, name: str) -> None:
        state = os.lstat(real)
        entry = {"path": real, "copy": name, "state": [state.st_size, state.st_mtime_ns, state.st_mode]}
        os.write(self._index, json.dumps(entry).encode() + b"\n")


def keep_files(folder: Path) -> None:
    """Start watching the files that this process writes."""
    sys.addaudithook(Keeper(folder).hook)
