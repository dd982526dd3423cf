"""Layers that a program unfreezes between two trainings of one model."""

from __future__ import annotations

import ast

from fitdoctor.source.module import CallSite, Module


def is_unfrozen_between(first: CallSite, second: CallSite) -> bool:
    """Return whether weights are frozen before one `compile` and trainable before the other, with a `fit` in between."""
    module = first.module
    assert isinstance(first.node.func, ast.Attribute)
    assert isinstance(second.node.func, ast.Attribute)
    model = module.segment(first.node.func.value)
    if module.segment(second.node.func.value) != model:
        return False
    start, end = first.node.lineno, second.node.lineno
    trained = any(
        start < site.node.lineno < end
        and site.function is first.function
        and isinstance(site.node.func, ast.Attribute)
        and module.segment(site.node.func.value) == model
        for site in module.method_calls("fit", "train_on_batch")
    )
    frozen = {place for place, value in _set(module) if place[0] < start and value is False}
    freed = {place for place, value in _set(module) if start < place[0] < end and value is True}
    return trained and bool({name for _line, name in frozen} & {name for _line, name in freed})


def _set(module: Module) -> list[tuple[tuple[int, str], object]]:
    """Return where `x.trainable` is set to a constant, by line and name, and its value."""
    found: list[tuple[tuple[int, str], object]] = []
    for node in module.attributes.get("trainable", ()):
        statement = module.statement(node)
        if isinstance(node.ctx, ast.Store) and isinstance(statement, ast.Assign):
            if isinstance(statement.value, ast.Constant):
                found.append(((node.lineno, module.segment(node.value)), statement.value.value))
    return found
