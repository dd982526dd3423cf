"""The learning rate of a compiled model, and where it is written."""

from __future__ import annotations

import ast

from fitdoctor.diagnosis import Edit, Location
from fitdoctor.facts import Argument, Code, ModelFacts


def rate_of(model: ModelFacts) -> float | None:
    """The learning rate as the optimizer has it; None when it is not a plain number."""
    settings = dict(model.optimizer_settings)
    try:
        return float(settings.get("learning_rate", ""))
    except ValueError:
        return None


def _optimizer(model: ModelFacts) -> Argument | None:
    code = model.compile_code
    return code.argument("optimizer", 0) if isinstance(code, Code) else None


def rate_place(model: ModelFacts) -> Location | None:
    """Where the optimizer is given to compile."""
    argument = _optimizer(model)
    return argument.location if argument is not None else None


def rate_edit(model: ModelFacts, rate: float) -> tuple[Edit, ...]:
    """Another learning rate, where it is written as a number in the call of compile."""
    argument = _optimizer(model)
    if argument is None:
        return ()
    try:
        call = ast.parse(argument.text.strip(), mode="eval").body
    except SyntaxError:
        return ()
    if not isinstance(call, ast.Call):
        return ()
    given = next(
        (k.value for k in call.keywords if k.arg == "learning_rate"), call.args[0] if call.args else None
    )
    if not isinstance(given, ast.Constant) or "\n" in argument.text:
        return ()
    start = argument.location.column + given.col_offset
    where = Location(
        argument.location.path,
        argument.location.line,
        start,
        argument.location.line,
        argument.location.column + (given.end_col_offset or given.col_offset),
        argument.location.cell,
    )
    return (Edit(where, f"{rate:g}"),)
