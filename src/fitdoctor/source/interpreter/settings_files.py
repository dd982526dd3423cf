"""Settings that a program reads from a JSON, YAML or TOML file next to it."""

from __future__ import annotations

import ast
import os
from collections.abc import Iterator
from typing import Any

from fitdoctor.source.interpreter.interpret import Interpreter
from fitdoctor.source.interpreter.library import handles
from fitdoctor.source.interpreter.values import UNTOLD, Arguments, DictRecord, Plain, Value
from fitdoctor.source.module import Module
from fitdoctor.source.origins import origin
from fitdoctor.source.project import SETTINGS

_LARGEST = 65_536
"""Bytes; larger files are data, not settings."""
_FOLDERS_ABOVE = 3
_DEEPEST = 8


@handles(
    "json.load", "json.loads", "yaml.safe_load", "yaml.load", "tomllib.load", "tomllib.loads", "toml.load"
)
def _loaded(run: Interpreter, arguments: Arguments) -> Value:
    given = arguments.node.args
    if not given:
        return UNTOLD
    module = run.owner(given[0])
    path = _file(module, list(_strings(module, given[0])))
    text = _text(path) if path else ""
    content = _parsed(text, path)
    if content is None:
        return UNTOLD
    if module.project is not None:
        module.project.settings[path] = text
    return _value(run, content)


def _strings(module: Module, expr: ast.expr, deep: int = 0) -> Iterator[str]:
    """Yield the literal parts of the path that an expression reads from, in order."""
    if isinstance(expr, (ast.Name, ast.Attribute)) and deep < _DEEPEST:
        end = origin(module, expr)
        if end.node is not expr and end.certain and not end.path:
            yield from _strings(end.module, end.node, deep + 1)
    elif isinstance(expr, ast.Constant):
        # the mode and the encoding of `open` are no parts of the path
        if isinstance(expr.value, str):
            yield expr.value
    elif isinstance(expr, ast.Call):
        if isinstance(expr.func, ast.Attribute):
            yield from _strings(module, expr.func.value, deep + 1)
        opens = isinstance(expr.func, ast.Name) and expr.func.id == "open"
        for argument in expr.args[:1] if opens else expr.args:
            yield from _strings(module, argument, deep + 1)
    elif isinstance(expr, ast.BinOp):
        yield from _strings(module, expr.left, deep + 1)
        yield from _strings(module, expr.right, deep + 1)


def _file(module: Module, parts: list[str]) -> str:
    """The only file of that name in the folder of the program or one of the folders above; "" if there is none."""
    if not parts or not parts[-1].endswith(SETTINGS) or any(os.path.isabs(part) for part in parts):
        return ""
    folder = os.path.dirname(os.path.abspath(module.path))
    found: list[str] = []
    for _ in range(_FOLDERS_ABOVE):
        path = os.path.normpath(os.path.join(folder, *parts))
        if os.path.isfile(path):
            found.append(path)
        folder = os.path.dirname(folder)
    return found[0] if len(found) == 1 else ""


def _text(path: str) -> str:
    try:
        if os.path.getsize(path) > _LARGEST:
            return ""
        with open(path, encoding="utf-8") as file:
            return file.read()
    except (OSError, ValueError):
        return ""


def _parsed(text: str, path: str) -> Any:
    """Return the content of a settings file; None if it cannot be read, for instance because PyYAML is not installed."""
    try:
        if path.endswith(".json"):
            import json

            return json.loads(text)
        if path.endswith(".toml"):
            import tomllib

            return tomllib.loads(text)
        import yaml  # type: ignore[import-untyped]

        return yaml.safe_load(text)
    except ImportError:
        return None
    # The parsers raise different errors for a file that is not valid: `YAMLError` is no ValueError.
    except Exception:
        return None


def _value(run: Interpreter, content: Any) -> Value:
    if isinstance(content, dict):
        return run.allocate(DictRecord(tuple((key, _value(run, item)) for key, item in content.items())))
    if isinstance(content, list):
        return run.new_list(_value(run, item) for item in content)
    return Plain(content)
