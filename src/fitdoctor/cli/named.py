"""The object that a `MODULE:NAME` or `FILE.py:NAME` on the command line names."""

from __future__ import annotations

import importlib
import inspect
import os
import sys
from typing import Any

from fitdoctor.cli import UsageError


def named(spec: str) -> Any:
    """Import the module and find the name in it.

    Raises:
        UsageError: there is no such module, or no such name in it.
    """
    module_name, _colon, attribute = spec.rpartition(":")
    if not module_name or not attribute:
        raise UsageError(f"`{spec}` is not MODULE:NAME, such as `train:build_model` or `train.py:model`")
    found: Any = _module(module_name)
    for word in attribute.split("."):
        if not hasattr(found, word):
            raise UsageError(f"`{module_name}` has no `{attribute}`{_suggestion(word, found)}")
        found = getattr(found, word)
    return found


def made(spec: str, found: Any) -> Any:
    """What a function without arguments makes; anything else as it is.

    Raises:
        UsageError: the function needs arguments.
    """
    if not (inspect.isfunction(found) or inspect.isclass(found)):
        return found
    try:
        inspect.signature(found).bind()
    except TypeError as error:
        raise UsageError(f"`{spec}` cannot be called without arguments: {error}") from error
    return found()


def _module(name: str) -> Any:
    # As for `python -m`: modules of the folder that one stands in are found.
    if os.getcwd() not in sys.path and "" not in sys.path:
        sys.path.insert(0, os.getcwd())
    if name.endswith(".py"):
        return _module_at(name)
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is not None and (name == error.name or name.startswith(error.name + ".")):
            raise UsageError(f"there is no module `{name}`") from None
        raise


def _module_at(path: str) -> Any:
    from importlib.util import module_from_spec, spec_from_file_location

    if not os.path.isfile(path):
        raise UsageError(f"there is no file `{path}`")
    sys.path.insert(0, os.path.dirname(os.path.abspath(path)))
    name = os.path.basename(path).removesuffix(".py")
    spec = spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    sys.modules.setdefault(name, module)
    spec.loader.exec_module(module)
    return module


def _suggestion(word: str, module: Any) -> str:
    import difflib

    close = difflib.get_close_matches(word, [name for name in dir(module) if name[0] != "_"], n=1)
    return f": did you mean `{close[0]}`?" if close else ""
