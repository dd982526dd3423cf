"""The settings: `[tool.fitdoctor]` of the nearest pyproject.toml, or the file that `--config` names."""

from __future__ import annotations

import os
from functools import lru_cache
from typing import Any

from fitdoctor.records import dataclass, replace

KEYS = ("select", "ignore", "per-file-ignores", "fail-on", "keras", "exclude")


class ConfigError(Exception):
    """The configuration cannot be read, or says something that we do not know."""


@dataclass(frozen=True)
class Config:
    """What a project asks for."""

    path: str = ""
    """The file that it was read from; "" when there is none."""
    select: tuple[str, ...] = ()
    """Ids, beginnings of ids, or slugs to judge by; all when empty."""
    ignore: tuple[str, ...] = ()
    per_file_ignores: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """(glob, ids) pairs; a glob counts from the pyproject.toml's folder."""
    fail_on: str | None = None
    keras: int | None = None
    exclude: tuple[str, ...] = ()
    named: bool = False
    """The file was named by `--config`: globs are then relative to the current folder."""

    @property
    def root(self) -> str:
        """The folder that globs are relative to."""
        return os.path.dirname(self.path) if self.path and not self.named else os.getcwd()


def find_config(start: os.PathLike[str] | str) -> Config:
    """The configuration that holds for a file or folder: of the nearest pyproject.toml that has our table.

    Raises:
        ConfigError: a pyproject.toml on the way is broken, or its table says what we do not know.
    """
    folder = os.path.abspath(start)
    folder = folder if os.path.isdir(folder) else os.path.dirname(folder)
    while True:
        config = _in_folder(folder)
        above = os.path.dirname(folder)
        if config is not None or above == folder:
            return config or Config()
        folder = above


def read_config(path: str) -> Config:
    """The configuration in a file that the user names: a pyproject.toml, or a TOML file with our keys at its top.

    Raises:
        ConfigError: the file cannot be read, has no settings of ours, or says what we do not know.
    """
    try:
        with open(path, "rb") as file:
            raw = file.read()
    except OSError as error:
        raise ConfigError(f"cannot read `{path}`: {error.strerror}") from error
    document = _parsed(path, raw)
    config = _from_document(path, document)
    if config is None:
        if os.path.basename(path) == "pyproject.toml" or "tool" in document:
            raise ConfigError(f"{path}: there is no [tool.fitdoctor] table")
        config = _from_table(path, document)
    return replace(config, named=True)


def _in_folder(folder: str) -> Config | None:
    path = os.path.join(folder, "pyproject.toml")
    try:
        with open(path, "rb") as file:
            raw = file.read()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise ConfigError(f"{path}: {error.strerror}") from error
    # Most files have no table of ours: those need no TOML reader, which costs more than all of this.
    return _read(path, raw) if b"fitdoctor" in raw else None


@lru_cache(maxsize=8)
def _read(path: str, raw: bytes) -> Config | None:
    return _from_document(path, _parsed(path, raw))


def _parsed(path: str, raw: bytes) -> dict[str, Any]:
    import tomllib

    try:
        return tomllib.loads(raw.decode("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: {error}") from error


def _from_document(path: str, document: dict[str, Any]) -> Config | None:
    tool = document.get("tool", {})
    if not isinstance(tool, dict) or "fitdoctor" not in tool:
        return None
    table = tool["fitdoctor"]
    if not isinstance(table, dict):
        raise ConfigError(f"{path}: `tool.fitdoctor` must be a table, found {_kind(table)}")
    return _from_table(path, table)


def _from_table(path: str, table: dict[str, Any]) -> Config:
    for key in table:
        if key not in KEYS:
            raise ConfigError(f"{path}: unknown key `{key}` in [tool.fitdoctor]{_did_you_mean(key, KEYS)}")
    return Config(
        path=path,
        select=_causes(path, "select", table.get("select", [])),
        ignore=_causes(path, "ignore", table.get("ignore", [])),
        per_file_ignores=_per_file(path, table.get("per-file-ignores", {})),
        fail_on=_fail_on(path, table.get("fail-on")),
        keras=_keras(path, table.get("keras")),
        exclude=_strings(path, "exclude", table.get("exclude", [])),
    )


def _causes(path: str, key: str, value: Any) -> tuple[str, ...]:
    words = _strings(path, key, value)
    problem = unknown_cause(words)
    if problem:
        raise ConfigError(f"{path}: `{key}`: {problem}")
    return words


def unknown_cause(words: tuple[str, ...]) -> str:
    """A complaint about the first word that names no cause and begins no id; "" when all do."""
    if not words:
        return ""
    from fitdoctor.catalogue import catalogue, suggestions

    causes = catalogue().values()
    for word in words:
        slug = word.strip().lower().replace("_", "-")
        if not any(cause.id.startswith(word.strip().upper()) or cause.slug == slug for cause in causes):
            close = suggestions(word)
            hint = f": did you mean {close[0]}?" if close else ""
            return f"unknown cause `{word}`{hint}"
    return ""


def _strings(path: str, key: str, value: Any) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise ConfigError(f"{path}: `{key}` must be a list of strings, found {_kind(value)}")
    return tuple(value)


def _per_file(path: str, value: Any) -> tuple[tuple[str, tuple[str, ...]], ...]:
    if not isinstance(value, dict):
        raise ConfigError(f"{path}: `per-file-ignores` must be a table, found {_kind(value)}")
    return tuple(
        (pattern, _causes(path, f"per-file-ignores.{pattern}", ids)) for pattern, ids in value.items()
    )


def _fail_on(path: str, value: Any) -> str | None:
    choices = ("error", "warning", "info")
    if value is None:
        return None
    if isinstance(value, str) and value in choices:
        return value
    raise ConfigError(f"{path}: `fail-on` must be one of {', '.join(choices)}, found {value!r}")


def _keras(path: str, value: Any) -> int | None:
    if value is None:
        return None
    if type(value) is int and value in (2, 3):
        return value
    raise ConfigError(f"{path}: `keras` must be 2 or 3, found {value!r}")


def _did_you_mean(word: str, known: tuple[str, ...]) -> str:
    import difflib

    close = difflib.get_close_matches(word, known, n=1, cutoff=0.5)
    return f": did you mean `{close[0]}`?" if close else f": the keys are {', '.join(known)}"


def _kind(value: Any) -> str:
    names = {
        dict: "a table",
        list: "a list of something else",
        str: "a string",
        bool: "a boolean",
        int: "a number",
    }
    return names.get(type(value), type(value).__name__)
