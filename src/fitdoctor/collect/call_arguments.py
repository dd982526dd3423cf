"""Which expression of a call in the user's source became which argument of `fit`, `evaluate` or `scan`."""

from __future__ import annotations

import ast
import builtins
import functools
import inspect
from types import FrameType
from typing import Any

from fitdoctor.records import dataclass
from fitdoctor.source.definitions import last_name
from fitdoctor.source.yielded_values import literal_part

PathKeys = tuple[int | str, ...]
_MISSING = object()


@dataclass(frozen=True)
class Passed:
    """How a Keras method got its arguments."""

    method: str
    names: tuple[str, ...]
    """The method's parameters in order, without the model."""
    positional: int | None = None
    """How many of them were passed by position; None where that was not seen."""
    leading: int = 0
    """How many positional arguments the call in the source takes before those: 1 for `check(model, x, y)`."""
    direct: bool = True
    """The user's own call is the one that passed them; otherwise a library stands between."""


@dataclass(frozen=True)
class WrittenCall:
    """A call in the source, read with the parameters of the method that it reaches."""

    call: ast.Call
    slots: dict[str, tuple[ast.expr, PathKeys]]
    """For each parameter passed by position: its expression, and the part of it where a `*` unpacks one."""
    own: tuple[ast.expr, ...]
    """The positional arguments that are none of the method's: the model of `check(model, x, y)`."""
    model: ast.expr | None
    """The expression of the model."""
    complete: bool
    """The positions of the written arguments are those of the method, once `own` is left out."""

    def argument(self, name: str) -> tuple[ast.expr, PathKeys] | None:
        """The expression that a parameter got; with keys, only that part of it."""
        for keyword in self.call.keywords:
            if keyword.arg == name:
                return keyword.value, ()
        unpacked = [keyword.value for keyword in self.call.keywords if keyword.arg is None]
        if name not in self.slots and len(unpacked) == 1:
            return literal_part(unpacked[0], (name,))
        return self.slots.get(name)


def read_call(call: ast.Call, frame: FrameType, passed: Passed) -> WrittenCall:
    """Match the expressions of a call with the parameters that they were passed for."""
    method = last_name(call) == passed.method
    leading = passed.leading or int(method and _is_unbound(call, frame))
    keywords = {keyword.arg: keyword.value for keyword in call.keywords}
    if "model" in keywords:
        leading = 0
    count = passed.positional + leading if passed.direct and passed.positional is not None else None
    known = _positions_known(call, frame, passed, method, count)
    written = _spread(call, count) if known else []
    shift = len(written) - count if known and count is not None else 0
    slots = {}
    for position, name in enumerate(passed.names):
        index = position + leading + shift
        if 0 <= index < len(written) and (count is None or position + leading < count):
            slots[name] = written[index]
    own = tuple(call.args[: max(leading + shift, 0)]) if known else ()
    model = keywords.get("model")
    if model is None and own:
        model = None if isinstance(own[0], ast.Starred) else own[0]
    elif model is None and method and isinstance(call.func, ast.Attribute):
        model = call.func.value
    return WrittenCall(call, slots, own, model, known and leading + shift >= 0)


def _positions_known(
    call: ast.Call, frame: FrameType, passed: Passed, method: bool, count: int | None
) -> bool:
    """Whether the positional arguments of the call are those that the method got."""
    if not passed.direct:
        # `KerasClassifier(…).fit(x, y)` means the same by its positions; `cross_val_score(model, x, y)` does not.
        return method
    stars = sum(isinstance(value, ast.Starred) for value in call.args)
    if stars:
        return stars == 1
    if count is None or len(call.args) == count:
        # `list(map(model.fit, xs))`: the call under way is that of `list`.
        return not _is_builtin(call, frame)
    if len(call.args) > count:
        return method and len(call.args) == count + 1  # unbound, of a class that could not be looked up
    # `partial(model.fit, x)(y)`: what comes last was written here.
    return isinstance(_value(call.func, frame), functools.partial) or (
        isinstance(call.func, ast.Call) and last_name(call.func) == "partial"
    )


def _spread(call: ast.Call, count: int | None) -> list[tuple[ast.expr, PathKeys]]:
    """The expressions by position, with an unpacked one as often as it gave an argument."""
    spread: list[tuple[ast.expr, PathKeys]] = []
    unpacked = 16 if count is None else count - len(call.args) + 1
    for value in call.args:
        if isinstance(value, ast.Starred):
            spread += [literal_part(value.value, (index,)) for index in range(unpacked)]
        else:
            spread.append((value, ()))
    return spread


def _is_unbound(call: ast.Call, frame: FrameType) -> bool:
    """`keras.Model.fit(model, x, y)`."""
    return isinstance(call.func, ast.Attribute) and isinstance(_value(call.func.value, frame), type)


def _is_builtin(call: ast.Call, frame: FrameType) -> bool:
    value = _value(call.func, frame)
    return value is not _MISSING and getattr(builtins, getattr(value, "__name__", ""), _MISSING) is value


def _value(expr: ast.expr, frame: FrameType) -> Any:
    """What a dotted name means in a frame, without running a property or a `__getattr__`."""
    if isinstance(expr, ast.Attribute):
        owner = _value(expr.value, frame)
        return _MISSING if owner is _MISSING else inspect.getattr_static(owner, expr.attr, _MISSING)
    if not isinstance(expr, ast.Name):
        return _MISSING
    for names in (frame.f_locals, frame.f_globals, frame.f_builtins):
        if expr.id in names:
            return names[expr.id]
    return _MISSING
