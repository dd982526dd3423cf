"""Which backend a program runs Keras on: only on TensorFlow are its methods traced, and its steps take one argument."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from fitdoctor.source.module import Module

VARIABLE = "KERAS_BACKEND"
_SETTERS = ("keras.config.set_backend",)


def settings(module: Module) -> Iterator[tuple[ast.stmt, ast.expr]]:
    """The statements of a file that set the variable, with its value."""
    if VARIABLE not in module.text:
        return
    for node in module.nodes(ast.Assign):
        for target in node.targets:
            if (
                isinstance(target, ast.Subscript)
                and _is_variable(target.slice)
                and _environment(module, target)
            ):
                yield node, node.value
    for call in module.calls_to("os.environ.setdefault", "os.putenv"):
        if len(call.node.args) == 2 and _is_variable(call.node.args[0]):
            yield module.statement(call.node), call.node.args[1]
    for call in module.calls_to("os.environ.update"):
        for keyword in call.node.keywords:
            if keyword.arg == VARIABLE:
                yield module.statement(call.node), keyword.value
        for given in call.node.args:
            for key, value in (
                zip(given.keys, given.values, strict=True) if isinstance(given, ast.Dict) else ()
            ):
                if key is not None and _is_variable(key):
                    yield module.statement(call.node), value


def _is_variable(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value == VARIABLE


def _environment(module: Module, target: ast.Subscript) -> bool:
    return module.resolve(target.value) == "os.environ"


def only_tensorflow(modules: Iterable[Module]) -> bool:
    """Whether nothing in a program's files asks for another backend, or for one that is chosen while it runs."""
    return all(_backends(module) <= {"tensorflow"} for module in modules)


def _backends(module: Module) -> set[object]:
    values = [value for _, value in settings(module)]
    for call in module.calls_to(*_SETTERS):
        values += call.node.args[:1]
    if not values and "jax" in module.text and "tensorflow" not in module.text and _imports(module, "jax"):
        return {"jax"}  # chosen outside of the program
    written = [module.made_by(value) if isinstance(value, ast.Name) else value for value in values]
    return {value.value if isinstance(value, ast.Constant) else "" for value in written}


def _imports(module: Module, name: str) -> bool:
    return any(module.imported(alias).partition(".")[0] == name for alias in module.nodes(ast.alias))
