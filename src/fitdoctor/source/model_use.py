"""Decides whether a file may create or fit a model, to skip interpreting the others."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import lru_cache

from fitdoctor.source.definitions import CallSite, ClassInfo
from fitdoctor.source.module import Module
from fitdoctor.source.names import own_keras
from fitdoctor.source.project import Project
from fitdoctor.source.resolution import imported

_MADE = (
    "keras.layers.",
    "keras.Sequential",
    "keras.Model",
    "keras.Input",
    "keras.models.",
    "keras.applications.",
)
_INSIDES = ("keras.src", "tf_keras.src", "tensorflow.python")
_USED = frozenset(
    "fit fit_generator evaluate evaluate_generator predict train_on_batch test_on_batch".split()
)


def may_make_models(module: Module) -> bool:
    """Whether the file creates a Keras layer or model or, in a program with Keras, fits one."""
    of_keras = (
        _mentions_keras(module) or module.project is not None and module in _beside_keras(module.project)
    )
    if not of_keras or is_inside_keras(module):
        return False
    return any(_calls_for_models(module)) or _has_models_made(module)


_MOST_FILES = 60
"""Maximum number of project files followed; a package of hundreds is not."""


def _has_models_made(module: Module) -> bool:
    """Whether the file calls a function of another file that creates or fits models."""
    project = module.project
    if project is None or not 1 < len(project.modules) <= _MOST_FILES:
        return False
    return any(
        calling is module
        for node in functions_with_models(project)
        for calling, _call in project.calls_of.get(node, ())
    )


def _calls_for_models(module: Module) -> Iterator[CallSite]:
    yield from module.method_calls(*_USED)
    for name, sites in module.calls_by_name.items():
        if own_keras(name).startswith(_MADE):
            yield from sites


@lru_cache(maxsize=8)
def functions_with_models(whole: Project | Module) -> frozenset[ast.AST]:
    """Return the functions that create or fit models, directly or through others."""
    modules = whole.modules if isinstance(whole, Project) else (whole,)
    waiting = [
        function
        for module in modules
        for site in (*_calls_for_models(module), *filter(_makes_own, module.calls))
        for function in _around(module, site.node)
    ]
    found: set[ast.AST] = set()
    while waiting:
        node = waiting.pop()
        if node not in found:
            found.add(node)
            for module, call in whole.calls_of.get(node, ()):
                waiting.extend(_around(module, call))
    return frozenset(found)


def _makes_own(site: CallSite) -> bool:
    made = site.module.definition(site.node.func)
    return isinstance(made, ClassInfo) and made.kind in ("Model", "Layer")


def _around(module: Module, node: ast.AST) -> Iterator[ast.AST]:
    """Yield the enclosing functions of a node, innermost first."""
    function = module.function_of(node)
    while function is not None:
        yield function.node
        function = module.function_of(function.node)


def is_inside_keras(module: Module) -> bool:
    """Whether a file belongs to Keras itself, which imports its own modules.

    Programs import the Keras inside TensorFlow too, but train with it and need nothing else from there.
    """
    names = {imported(module, alias) for alias in module.nodes(ast.alias)}
    inside = {name for name in names if name.startswith(_INSIDES)}
    if inside and all(name.startswith("tensorflow.python.keras") for name in inside):
        return not any(True for _call in module.method_calls(*_USED))
    return bool(inside) and not any(
        name.partition(".")[0] in ("keras", "tensorflow", "tf_keras") and name not in inside for name in names
    )


def _mentions_keras(module: Module) -> bool:
    return "keras" in module.text or "tensorflow" in module.text


@lru_cache(maxsize=8)
def _beside_keras(project: Project) -> frozenset[Module]:
    """The files that mention Keras, and those that imports connect with them, in either direction."""
    beside: dict[Module, list[Module]] = {}
    for module in project.modules:
        for dotted in _imports(module):
            other = project.imported_module(module, dotted)
            if other is not None:
                beside.setdefault(module, []).append(other)
                beside.setdefault(other, []).append(module)
    waiting = [module for module in project.modules if _mentions_keras(module)]
    reached = set(waiting)
    while waiting:
        for module in beside.get(waiting.pop(), ()):
            if module not in reached:
                reached.add(module)
                waiting.append(module)
    return frozenset(reached)


def _imports(module: Module) -> Iterator[str]:
    """The dotted names that a file imports, and the modules that they may be in."""
    for statement in module.nodes(ast.Import):
        yield from (alias.name for alias in statement.names)
    for source in module.nodes(ast.ImportFrom):
        home = "." * source.level + (source.module or "")
        yield home
        yield from (f"{home}{'.' if source.module else ''}{alias.name}" for alias in source.names)
