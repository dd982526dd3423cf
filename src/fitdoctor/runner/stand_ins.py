"""Loads the user's modules and settings from repaired copies, so that a repair can be tried without touching their files."""

from __future__ import annotations

import builtins
import io
import os
import sys
from collections.abc import Mapping, Sequence
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import spec_from_file_location
from types import ModuleType
from typing import Any


class _Finder:
    """Finds modules as Python does, and returns the copy if there is one."""

    def __init__(self, copies: Mapping[str, str]) -> None:
        self._copies = {os.path.realpath(own): copy for own, copy in copies.items()}

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return the spec of a module whose file has a copy; else None, so that Python searches itself."""
        found = PathFinder.find_spec(name, path, target)
        if found is None or not found.origin:
            return None
        copy = self._copies.get(os.path.realpath(found.origin))
        if copy is None:
            return None
        return spec_from_file_location(
            name, copy, submodule_search_locations=found.submodule_search_locations
        )


def stand_in(copies: Mapping[str, str]) -> None:
    """Load these copies instead of the original files from now on."""
    sys.meta_path.insert(0, _Finder(copies))
    settings = {own: copy for own, copy in copies.items() if not own.endswith((".py", ".ipynb"))}
    if settings:
        _open_instead(settings)


def _open_instead(copies: Mapping[str, str]) -> None:
    """Let `open` read these copies instead of the original files."""
    plain = io.open

    def redirected(file: Any, mode: str = "r", *arguments: Any, **options: Any) -> Any:
        if isinstance(file, (str, os.PathLike)) and not set(mode) & set("wax+"):
            file = copies.get(os.path.realpath(os.fspath(file)), file)
        return plain(file, mode, *arguments, **options)

    builtins.open = io.open = redirected
