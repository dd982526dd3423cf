"""Edits that add the parameters Keras passes to a function's signature."""

from __future__ import annotations

import ast

from fitdoctor.catalogue.model.keras_contracts import Contract, is_static
from fitdoctor.diagnosis import Edit, Location
from fitdoctor.edits import insert_before
from fitdoctor.source.module import FunctionInfo
from fitdoctor.source.traced.symbolic import own_nodes


def with_missing_parameters(function: FunctionInfo, contract: Contract) -> tuple[Edit, ...]:
    """Add missing parameters if the existing ones are in the right positions."""
    node = function.node
    arguments = node.args
    listed = [*arguments.posonlyargs, *arguments.args]
    bound = function.is_method and not is_static(function)
    names = [argument.arg for argument in (listed[1:] if bound else listed)]
    if isinstance(node, ast.Lambda) or arguments.kwonlyargs or arguments.vararg or (bound and not listed):
        return ()
    wanted = (*contract.positional, *contract.keywords)
    if names == list(wanted[: len(names)]) and len(names) < len(wanted):
        # `def on_epoch_end(self, epoch)`: append the rest.
        added = [f"{name}=None" if name in _OPTIONAL else name for name in wanted[len(names) :]]
        if not listed or (arguments.defaults and any("=" not in part for part in added)):
            return ()
        end = _end(function, listed[-1], arguments.defaults[-1] if arguments.defaults else None)
        return (Edit(end, "".join(f", {part}" for part in added)),)
    if wanted == ("data",) and len(names) > 1 and not arguments.defaults:
        return _taken_apart(function, listed, names)
    if names == ["y_pred"] and wanted[:2] == ("y_true", "y_pred") and not _reads_globals(function):
        # A loss that uses only the predictions still gets the labels first.
        return (Edit(function.module.location(listed[-1]).start, "y_true, "),)
    return ()


def _taken_apart(function: FunctionInfo, listed: list[ast.arg], names: list[str]) -> tuple[Edit, ...]:
    """Turn `def train_step(self, x, y)` into one that takes `data` and unpacks it first."""
    assert not isinstance(function.node, ast.Lambda)
    module, body = function.module, function.node.body
    first, last = module.location(listed[-len(names)]), module.location(listed[-1])
    where = Location(first.path, first.line, first.column, last.end_line, last.end_column, first.cell)
    after = next((each for each in body if not _is_docstring(each)), body[0])
    return (Edit(where, "data"), *insert_before(module.code(after), f"{', '.join(names)} = data"))


def _is_docstring(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def _reads_globals(function: FunctionInfo) -> bool:
    """Whether the function uses global data, which the labels of the batch should replace."""
    bindings = function.module.index.module.bindings
    return any(
        isinstance(node, ast.Name) and any(isinstance(bound, ast.Name) for bound in bindings.get(node.id, ()))
        for node in own_nodes(function)
    )


_OPTIONAL = frozenset({"logs", "sample_weight"})


def _end(function: FunctionInfo, last: ast.arg, default: ast.expr | None) -> Location:
    return function.module.location(last if default is None else default).end


_MAY_LACK = frozenset({"sample_weight", "logs", "training", "mask"})
"""Parameters that Keras does not pass on every call."""


def made_optional(function: FunctionInfo, words: str) -> tuple[Edit, ...]:
    """Add `=None` to the one missing argument, if it is the last without a default."""
    given = function.node.args
    without = given.args[: len(given.args) - len(given.defaults)]
    missing = [name for name in _MAY_LACK if f"missing 1 required positional argument: '{name}'" in words]
    if not missing or not without or without[-1].arg != missing[0] or without[-1].annotation is not None:
        return ()
    return (Edit(function.module.location(without[-1]), f"{missing[0]}=None"),)
