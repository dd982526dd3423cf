"""Explains in one line why a program cannot start."""

from __future__ import annotations

import ast
import os
import sys
from importlib.machinery import ModuleSpec, PathFinder


class CannotStart(Exception):
    """The program cannot be started; the message says why in one line."""


_FRAMEWORKS = ("tensorflow", "keras", "tf_keras")


def check_script(path: str) -> None:
    """Reject what Python could not run.

    Raises:
        CannotStart: there is no such file, or it is not a Python program.
    """
    if os.path.isdir(path):
        raise CannotStart(
            f"`{path}` is a folder: name a script in it, or use `-m {os.path.basename(path.rstrip('/'))}`"
        )
    if not os.path.exists(path):
        raise CannotStart(f"there is no file `{path}`")
    if path.endswith(".ipynb"):
        _check_notebook(path)
        return
    _refuse_missing_framework(_parsed(path), path)


def _check_notebook(path: str) -> None:
    """Reject a file that is not a notebook; an invalid cell is found when it runs."""
    from fitdoctor.source.read import SourceError, read_source

    try:
        cells = read_source(path).cells or ()
    except SourceError as error:
        raise CannotStart(str(error)) from None
    for number, cell in enumerate(cells, 1):
        try:
            tree = ast.parse(cell)
        except (SyntaxError, ValueError):
            continue
        _refuse_missing_framework(tree, path, f"cell {number}:")


def check_module(name: str) -> None:
    """Reject a module that does not exist, without importing anything.

    Raises:
        CannotStart: it cannot be found.
    """
    file_of_module(name)


def file_of_module(name: str) -> str:
    """Return the file that `python -m` runs for a module, without importing anything; "" if it has none.

    Raises:
        CannotStart: it cannot be found.
    """
    places: list[str] | None = [os.getcwd(), *sys.path]
    spec: ModuleSpec | None = None
    for number, part in enumerate(name.split(".")):
        qualified = ".".join(name.split(".")[: number + 1])
        spec = PathFinder.find_spec(qualified, places) if part else None
        if spec is None:
            raise CannotStart(f"there is no module `{qualified}`")
        places = list(spec.submodule_search_locations or ())
    if spec is not None and spec.submodule_search_locations is not None:
        spec = PathFinder.find_spec(f"{name}.__main__", list(spec.submodule_search_locations))
        if spec is None:
            raise CannotStart(f"`{name}` is a package without `__main__` and cannot be run")
    return (spec.origin or "") if spec is not None else ""


def _parsed(path: str) -> ast.Module:
    import warnings

    try:
        with open(path, "rb") as file:
            source = file.read()
    except OSError as error:
        raise CannotStart(f"cannot read `{path}`: {error.strerror}") from None
    if b"\0" in source:
        raise CannotStart(f"`{path}` is not a Python program: it contains binary data")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            # The whole compiler, not the parser alone: `return` outside a function is found there.
            compile(source, path, "exec", dont_inherit=True)
            return ast.parse(source, path)
    except SyntaxError as error:
        where = f"{path}:{error.lineno}" if error.lineno else path
        raise CannotStart(f"{where}: not valid Python: {error.msg}") from None
    except ValueError as error:
        raise CannotStart(f"`{path}` is not a Python program: {error}") from None


def _refuse_missing_framework(tree: ast.Module, path: str, cell: str = "") -> None:
    """Reject a failing import of TensorFlow, unless it is inside `try` or a function."""
    places = [os.path.dirname(os.path.realpath(path)), *sys.path]
    for statement in tree.body:
        names = []
        if isinstance(statement, ast.Import):
            names = [alias.name for alias in statement.names]
        elif isinstance(statement, ast.ImportFrom) and statement.level == 0:
            names = [statement.module or ""]
        for name in names:
            package = name.partition(".")[0]
            if package in _FRAMEWORKS and PathFinder.find_spec(package, places) is None:
                raise CannotStart(f"{path}:{cell}{statement.lineno}: {_not_there(package)}")


def _not_there(package: str) -> str:
    """Where the metadata is left of a package that is gone, pip takes it for installed."""
    from fitdoctor.collect.versions import installed_version

    if installed_version(package) is not None:
        return (
            f"`{package}` is installed for {sys.executable}, but its files are missing: "
            f"`python -m pip install --force-reinstall {package}`"
        )
    return f"`{package}` is not installed for {sys.executable}: `python -m pip install {package}`"
