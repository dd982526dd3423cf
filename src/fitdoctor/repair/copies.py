"""Repaired copies next to the user's files: made for one run, with recognizable names, always removed."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import tempfile
from collections.abc import Mapping
from typing import Any

from fitdoctor.records import dataclass
from fitdoctor.repair.files import UserFile
from fitdoctor.repair.notebooks import CellScript, script_of
from fitdoctor.source.read import display_path

_NAME = ".fitdoctor-{pid}-{name}"
_OURS = re.compile(r"\.fitdoctor-(\d+)-.+\.py")


@dataclass(frozen=True)
class Origin:
    """The file that a copy replaces."""

    path: str
    cells: CellScript | None = None


@dataclass(frozen=True)
class Laid:
    """A program prepared for a run."""

    script: str
    replaced: tuple[tuple[str, str], ...] = ()
    """(a module's own file, its copy)."""
    origins: tuple[tuple[str, Origin], ...] = ()
    """The original of each copy, by the path that its locations show."""
    repaired: bool = False
    """Whether it differs from the user's program."""


class Copies:
    """Makes copies, and removes them when the `with` block ends."""

    def __init__(self) -> None:
        self._made: set[str] = set()
        self._folder = ""
        self.elsewhere = False
        """A folder is not writable, so its copies are in a temporary one."""

    def __enter__(self) -> Copies:
        return self

    def __exit__(self, *_: object) -> None:
        for path in self._made:
            with contextlib.suppress(OSError):
                os.unlink(path)
        self._made.clear()
        if self._folder:
            shutil.rmtree(self._folder, ignore_errors=True)

    def lay_out(
        self, script: str, files: Mapping[str, UserFile], texts: Mapping[str, str], as_module: bool = False
    ) -> Laid:
        """Copy the files whose text differs; an unchanged script is run in place.

        Args:
            script: the user's script.
            files: the files that were read, by real path.
            texts: the new texts of changed files, by real path.
            as_module: whether the script is run as a module, which finds its copy like any other.
        """
        main = os.path.realpath(script)
        runs, replaced, origins = script, [], []
        needed = dict(texts)
        if script.endswith(".ipynb"):
            needed.setdefault(main, files[main].text)
        for path, text in needed.items():
            file = files[path]
            cells = script_of(text) if file.is_notebook else None
            raw = cells.text.encode("utf-8") if cells is not None else file.encoded(text)
            copy = self._write(path, raw)
            shown = display_path(script if path == main else path)
            origins.append((display_path(copy), Origin(shown, cells)))
            if path == main and not as_module:
                runs = copy
            else:
                replaced.append((path, copy))
        return Laid(runs, tuple(replaced), tuple(origins), bool(texts))

    def _write(self, path: str, raw: bytes) -> str:
        folder, name = os.path.split(path)
        stem = os.path.splitext(name)[0]
        own = _NAME.format(pid=os.getpid(), name=f"{stem}.py")
        beside = os.path.join(folder, own)
        try:
            self._put(beside, raw)
        except OSError:
            if not self._folder:
                self._folder = tempfile.mkdtemp(prefix="fitdoctor-copies-")
            self.elsewhere = True
            beside = os.path.join(self._folder, own)
            self._put(beside, raw)
        return beside

    def _put(self, path: str, raw: bytes) -> None:
        if path not in self._made:
            # Never over a file that somebody else made, whatever it is.
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
            self._made.add(path)
        with open(path, "wb") as file:
            file.write(raw)


def sweep(folder: str) -> None:
    """Remove copies left behind by a run that was killed."""
    with contextlib.suppress(OSError):
        for name in os.listdir(folder):
            ours = _OURS.fullmatch(name)
            if ours and not _lives(int(ours[1])):
                with contextlib.suppress(OSError):
                    os.unlink(os.path.join(folder, name))


def _lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def in_own_words(plain: Any, laid: Laid) -> Any:
    """Return plain facts with the paths and lines of the originals instead of the copies."""
    origins = dict(laid.origins)
    names = [(os.path.basename(copy), os.path.basename(origin.path)) for copy, origin in laid.origins]
    return _renamed(plain, origins, names) if origins else plain


def _renamed(plain: Any, origins: dict[str, Origin], names: list[tuple[str, str]]) -> Any:
    if isinstance(plain, list):
        return [_renamed(item, origins, names) for item in plain]
    if isinstance(plain, str):
        for copy, own in names:
            plain = plain.replace(copy, own)
        return plain
    if not isinstance(plain, dict):
        return plain
    origin = origins.get(plain["path"]) if isinstance(plain.get("path"), str) and "line" in plain else None
    moved = {name: _renamed(value, origins, names) for name, value in plain.items()}
    if origin is not None:
        moved["path"] = origin.path
        if origin.cells is not None:
            moved.update(_in_cell(plain, origin.cells))
    return moved


def _in_cell(place: dict[str, Any], cells: CellScript) -> dict[str, Any]:
    cell, line = cells.place(place["line"])
    moved: dict[str, Any] = {"cell": cell, "line": line}
    if "end_line" in place:
        moved["end_line"] = line + place["end_line"] - place["line"]
    return moved
