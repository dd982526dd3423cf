"""Losses that have only long names in `keras` and only short ones in `tensorflow.keras`."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fitdoctor.catalogue import Cause
from fitdoctor.catalogue.environment.keras_3_fixes import attribute_name
from fitdoctor.diagnosis import Edit, Evidence, Finding
from fitdoctor.edits import fix
from fitdoctor.records import replace
from fitdoctor.source.conditions import is_conditional
from fitdoctor.source.module import Module

_SHORT = {
    "mean_squared_error": "mse",
    "mean_absolute_error": "mae",
    "mean_absolute_percentage_error": "mape",
    "mean_squared_logarithmic_error": "msle",
    "kl_divergence": "kld",
    "log_cosh": "logcosh",
}
_LONG = {
    "kullback_leibler_divergence": "kl_divergence",
    **{short: long for long, short in _SHORT.items()},
    **{short.upper(): long for long, short in _SHORT.items() if short != "logcosh"},
}
OTHER_NAMES = {
    **{f"tensorflow.keras.{part}": _SHORT for part in ("losses", "metrics")},
    **{f"keras.{part}": _LONG for part in ("losses", "metrics")},
}
"""By module: missing names, and what the module calls the same function."""


def renamed_losses(cause: Cause, module: Module) -> Iterator[Finding]:
    """Report all of them in one finding, because the names changed together."""
    found = [
        each for each in (*_attributes(module), *_imports(module)) if not is_conditional(module, each[0])
    ]
    if not found:
        return
    node, old, new, home = found[0]
    edits = [edit for each, was, now, _home in found for edit in _edits(module, each, was, now)]
    yield cause.finding(
        f"Keras 3 has no `{home}.{old}`; its name is now `{new}`",
        subject=f"name {home}.{old}",
        location=module.location(node),
        evidence=[Evidence(claim="Keras 2 name", observed=old, expected=new)],
        fixes=[fix(f"use `{new}`", edits)],
    )


def _attributes(module: Module) -> Iterator[tuple[ast.expr | ast.stmt, str, str, str]]:
    for node in module.nodes(ast.Attribute):
        if node.attr in _SHORT or node.attr in _LONG:
            home = module.dotted(node).rpartition(".")[0]
            new = OTHER_NAMES.get(home, {}).get(node.attr)
            if new is not None:
                yield node, node.attr, new, home


def _imports(module: Module) -> Iterator[tuple[ast.expr | ast.stmt, str, str, str]]:
    for node in module.nodes(ast.ImportFrom):
        names = {} if node.level else OTHER_NAMES.get(node.module or "", {})
        for alias in node.names:
            if alias.name in names:
                yield node, alias.name, names[alias.name], node.module or ""


def _edits(module: Module, node: ast.expr | ast.stmt, old: str, new: str) -> Iterator[Edit]:
    """Return the edits for the other name; an import keeps the old one as an alias."""
    if isinstance(node, ast.Attribute):
        yield Edit(attribute_name(module, node), new)
    elif isinstance(node, ast.ImportFrom):
        for alias in node.names:
            if alias.name == old:
                where = module.location(alias)
                end = replace(where, end_line=where.line, end_column=where.column + len(old))
                yield Edit(end, new if alias.asname else f"{new} as {old}")
