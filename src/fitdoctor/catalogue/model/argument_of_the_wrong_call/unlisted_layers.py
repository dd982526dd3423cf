"""Layers passed to `Sequential` as separate arguments instead of one list."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fitdoctor.catalogue import Cause
from fitdoctor.diagnosis import Confidence, Edit, Evidence, Finding
from fitdoctor.edits import fix
from fitdoctor.source.module import Module


def unlisted_layers(cause: Cause, module: Module) -> Iterator[Finding]:
    """Report `Sequential(Dense(8), Dense(1))`."""
    for call in module.calls_under("keras."):
        if len(call.node.args) < 2 or call.name.rpartition(".")[2] != "Sequential":
            continue
        second = module.origin(call.node.args[1])
        made = second.node if second.certain and not second.path else None
        if isinstance(made, ast.Call) and second.module.resolve(made.func).startswith("keras.layers."):
            yield _finding(cause, module, call.node)


def _finding(cause: Cause, module: Module, call: ast.Call) -> Finding:
    edits = (Edit(module.location(call.args[0]).start, "["), Edit(module.location(call.args[-1]).end, "]"))
    inside = module.places.parentheses(call)
    if inside is not None and module.location(call.args[0]).line > module.location(call.func).end_line:
        # A layer per line: the brackets go beside the parentheses.
        start, end = inside
        edits = (Edit(module.places.between(start, start), "["), Edit(module.places.between(end, end), "]"))
    return cause.finding(
        f"`Sequential` expects one list of layers, but receives {len(call.args)} arguments: the second one is `trainable`",
        module.location(call),
        Evidence("arguments", f"{len(call.args)} separate layers", "a list of layers"),
        fix("pass the layers as a list", edits),
        subject="layers of Sequential",
        confidence=Confidence.CERTAIN,
    )
