"""Finds the files to read from the files, folders and globs that the user names."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

from fitdoctor.config import Config, find_config
from fitdoctor.records import dataclass

if TYPE_CHECKING:
    from pathlib import Path

    from fitdoctor.cli.gitignore import Rules

SUFFIXES = (".py", ".ipynb")

_NEVER = frozenset(
    (
        *(".git", ".hg", ".svn", ".venv", "venv", ".tox", ".nox", ".eggs", "__pycache__", "node_modules"),
        *("site-packages", "__pypackages__", ".mypy_cache", ".ruff_cache", ".pytest_cache"),
        *(".ipynb_checkpoints", "build", "dist", ".direnv"),
    )
)
"""Folders without the user's source, unless they are named explicitly."""


@dataclass(frozen=True)
class Found:
    """A file to read, with the configuration that applies to it."""

    path: str
    config: Config


class NothingThere(Exception):
    """What the user named does not exist."""


def discover(names: list[str], config: Config | None = None) -> list[Found]:
    """Return the files that the names refer to, each once, in a stable order.

    Args:
        names: files, folders and globs.
        config: the settings for all of them; by default each has those of the nearest pyproject.toml.

    Raises:
        NothingThere: a name is neither a file, a folder nor a glob that matches something.
        ConfigError: a pyproject.toml is broken.
    """
    found: dict[str, Found] = {}
    configs = _Configs(config)
    for name in names:
        for path in _expanded(name, configs):
            is_folder = os.path.isdir(path)
            applies = configs.of(path if is_folder else os.path.dirname(path))
            files = _in_folder(path, applies) if is_folder else [path]
            for file in files:
                found.setdefault(os.path.realpath(file), Found(file, applies))
    return sorted(found.values(), key=lambda each: each.path)


class _Configs:
    """The settings of each folder, looked up once."""

    def __init__(self, given: Config | None) -> None:
        self._given = given
        self._known: dict[str, Config] = {}

    def of(self, folder: str) -> Config:
        if self._given is not None:
            return self._given
        if folder not in self._known:
            self._known[folder] = find_config(folder or ".")
        return self._known[folder]


def _expanded(name: str, configs: _Configs) -> list[str]:
    if os.path.lexists(name):
        return [name]
    if any(character in name for character in "*?["):
        return _matching(name, configs)
    raise NothingThere(f"`{name}` does not exist")


def _matching(pattern: str, configs: _Configs) -> list[str]:
    """Yield the files below the folder before the first `*` that match a glob."""
    import glob

    matches = sorted(glob.glob(pattern, recursive=True))
    if not matches:
        raise NothingThere(f"no file matches `{pattern}`")
    plain = pattern[: min(pattern.index(character) for character in "*?[" if character in pattern)]
    start = os.path.dirname(plain) or "."
    walked = {os.path.normpath(file) for file in _in_folder(start, configs.of(start))}
    folders = {os.path.dirname(file) for file in walked}
    return [
        match
        for match in matches
        if os.path.normpath(match) in walked or (os.path.isdir(match) and _holds(match, folders))
    ]


def _holds(folder: str, folders: set[str]) -> bool:
    """Whether one of the folders is that folder, or contains it."""
    inside = os.path.normpath(folder)
    return any(one == inside or one.startswith(inside + os.sep) for one in folders)


def _in_folder(folder: str, config: Config) -> Iterator[str]:
    from pathlib import Path

    from fitdoctor.cli.gitignore import rules_above

    root = Path(folder).absolute()
    yield from _walk(folder, root, rules_above(root), Excluded(config))


def _walk(shown: str, folder: Path, rules: Rules | None, excluded: Excluded) -> Iterator[str]:
    """Yield files below a folder. Links to folders are not followed: they may form cycles."""
    from fitdoctor.cli.gitignore import rules_of

    rules = rules_of(folder, rules)
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except PermissionError:
        yield shown  # what may be in it was not read, and reading it says so
        return
    except OSError:
        return
    for entry in entries:
        is_folder = entry.is_dir(follow_symlinks=False)
        if not is_folder and not (entry.name.endswith(SUFFIXES) and os.path.isfile(entry.path)):
            continue
        path = folder / entry.name
        if (is_folder and entry.name in _NEVER) or excluded.has(path, is_folder):
            continue
        if rules is not None and rules.ignores(path, is_folder):
            continue
        below = os.path.join(shown, entry.name) if shown != "." else entry.name
        if is_folder:
            yield from _walk(below, path, rules, excluded)
        else:
            yield below


class Excluded:
    """The `exclude` globs of a configuration, written as in a `.gitignore`."""

    def __init__(self, config: Config) -> None:
        from pathlib import Path

        from fitdoctor.cli.gitignore import Rules, parsed

        self._rules = Rules(Path(config.root), parsed(config.exclude))

    def has(self, path: Path, is_folder: bool) -> bool:
        """Whether a path is excluded."""
        return path.is_relative_to(self._rules.folder) and self._rules.ignores(path, is_folder)


def ignored_in(found: Found) -> tuple[str, ...]:
    """Return the causes that `per-file-ignores` ignores for a file."""
    if not found.config.per_file_ignores:
        return ()
    from pathlib import Path

    from fitdoctor.cli.gitignore import parsed

    path, root = Path(found.path).absolute(), Path(found.config.root)
    if not path.is_relative_to(root):
        return ()
    ids: list[str] = []
    for pattern, ignored in found.config.per_file_ignores:
        if parsed([pattern]).match_file(path.relative_to(root).as_posix()):
            ids.extend(ignored)
    return tuple(ids)
