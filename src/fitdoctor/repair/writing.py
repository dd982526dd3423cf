"""Replaces the user's files with repaired texts: with a backup, and never if the file changed meanwhile."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Sequence

from fitdoctor.repair.files import CannotEdit, Change

_MOST_BACKUPS = 100


def write(changes: Sequence[Change]) -> list[tuple[str, str]]:
    """Write every change, or none.

    Returns:
        For each file, its path and that of its backup ("" if git has it).

    Raises:
        CannotEdit: a file has changed since it was read, or cannot be written.
    """
    raws = [change.file.encoded(change.new) for change in changes]
    for change in changes:
        if _raw(change.file.path) != change.file.raw:
            raise CannotEdit(f"`{change.file.path}` has changed since it was read: nothing was written")
    done: list[tuple[Change, str]] = []
    try:
        for change, raw in zip(changes, raws, strict=True):
            backup = "" if git_has(change.file.path) else back_up(change.file.path, change.file.raw)
            done.append((change, backup))
            _put(change.file.path, raw)
    except OSError as error:
        _undo(done)
        raise CannotEdit(f"cannot write `{error.filename}`: {error.strerror}") from None
    # Ctrl-C between two files must not leave half a repair.
    except BaseException:
        _undo(done)
        raise
    return [(change.file.path, backup) for change, backup in done]


def _undo(done: list[tuple[Change, str]]) -> None:
    for change, backup in done:
        with contextlib.suppress(OSError):
            if _raw(change.file.path) != change.file.raw:
                _put(change.file.path, change.file.raw)
            if backup:
                os.unlink(backup)


def _raw(path: str) -> bytes | None:
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError:
        return None


def back_up(path: str, raw: bytes) -> str:
    """Copy a file next to itself, under a free name: `train.py.orig`, then `train.py.orig.1`.

    Raises:
        OSError: the folder is not writable.
    """
    for number in range(_MOST_BACKUPS):
        name = f"{path}.orig" if number == 0 else f"{path}.orig.{number}"
        try:
            with open(name, "xb") as file:
                file.write(raw)
        except FileExistsError:
            continue
        with contextlib.suppress(OSError):
            shutil.copystat(path, name)
        return name
    raise OSError(17, "there are too many backups", path)


def git_has(path: str) -> bool:
    """Whether git tracks a file and has its current content: then no backup is needed."""
    folder, name = os.path.split(path)
    for question in (["ls-files", "--error-unmatch", "--", name], ["diff", "--quiet", "HEAD", "--", name]):
        try:
            done = subprocess.run(
                ["git", "-C", folder or ".", *question], capture_output=True, timeout=20, check=False
            )
        except (OSError, subprocess.TimeoutExpired):
            return False
        if done.returncode != 0:
            return False
    return True


def _put(path: str, raw: bytes) -> None:
    """Replace a file's content atomically; in place if the file has other names, or the folder takes no new file."""
    folder, name = os.path.split(path)
    try:
        if os.stat(path).st_nlink > 1:
            raise PermissionError
        descriptor, unfinished = tempfile.mkstemp(prefix=f".{name}.", dir=folder or ".")
    except PermissionError:
        with open(path, "wb") as file:
            file.write(raw)
        return
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(raw)
        shutil.copymode(path, unfinished)
        os.replace(unfinished, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(unfinished)
        raise
