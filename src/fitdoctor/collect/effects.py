"""Determine the side effects of running the user's code once more: which can be restored, which cannot."""

from __future__ import annotations

import dis
import types
from collections.abc import Iterator
from typing import Any

from fitdoctor.collect.layers import LIBRARIES, user_classes
from fitdoctor.records import dataclass

WRITERS = frozenset(
    ("write", "writelines", "writerow", "savefig", "dump", "save", "to_csv", "put", "send", "connect", "request",
     "numpy_input_fn", "add_scalar")
)  # fmt: skip
FUNCTIONS = frozenset(("open", "input", "exec", "eval", "next"))
_OPENS = ("open", "reader", "DictReader")
"""What gives an iterator of its own to the function that calls it."""
MOST_FUNCTIONS = 300


@dataclass(frozen=True)
class Effects:
    """The possible side effects of the code of some objects."""

    lasting: str = ""
    """Why it must not run again (it writes files, advances an iterator, …); "" if it may."""
    globals: tuple[tuple[dict[str, Any], str], ...] = ()
    """Global names it reads or writes, whose values can be restored."""
    closures: tuple[types.FunctionType, ...] = ()
    functions: int = 0
    """The number of user functions that were read."""


def effects_of(*things: Any) -> Effects:
    """Return the side effects of user classes and functions, from their byte code."""
    pending = [function for thing in things for function in _functions_of(thing)]
    seen: dict[int, types.FunctionType] = {}
    touched: dict[tuple[int, str], tuple[dict[str, Any], str]] = {}
    while pending and len(seen) < MOST_FUNCTIONS:
        function = pending.pop()
        if id(function.__code__) in seen:
            continue
        seen[id(function.__code__)] = function
        reason = _lasting(function.__code__, function.__globals__)
        if reason:
            return Effects(f"`{function.__qualname__}` {reason}")
        for name in names_of(function.__code__):
            value = function.__globals__.get(name)
            if name in function.__globals__ and not _is_constant(value):
                touched[id(function.__globals__), name] = (function.__globals__, name)
        pending.extend(_called(function))
    return Effects("", tuple(touched.values()), tuple(seen.values()), len(seen))


def _is_constant(value: Any) -> bool:
    """Whether a binding is a module, class or library function, which running code does not change."""
    if isinstance(value, (types.ModuleType, type)):
        return True
    return isinstance(value, types.FunctionType) and _of_library(value)


def _functions_of(thing: Any) -> Iterator[types.FunctionType]:
    if isinstance(thing, types.FunctionType):
        if not _of_library(thing):
            yield thing
        return
    if isinstance(thing, types.MethodType):
        yield from _functions_of(thing.__func__)
        return
    inner = getattr(thing, "python_function", None)
    if isinstance(inner, types.FunctionType):
        yield from _functions_of(inner)
    for kind in user_classes(type(thing)):
        if kind.__module__.split(".")[0] in ("builtins", "abc", "typing", "collections", "functools"):
            continue
        yield from _methods(kind)
    attributes = getattr(thing, "__dict__", {})
    for name in ("function", "fn", "_fn"):
        function = attributes.get(name)
        if isinstance(function, types.FunctionType) and not _of_library(function):
            yield function


def _methods(kind: type) -> Iterator[types.FunctionType]:
    for name, member in vars(kind).items():
        if name in (
            "__init__",
            "get_config",
            "from_config",
            "train_step",
            "test_step",
            "__repr__",
            "fit",
            "compile",
        ):
            continue
        inner = getattr(member, "python_function", getattr(member, "__func__", member))
        inner = inner.fget if isinstance(inner, property) else inner
        if isinstance(inner, types.FunctionType):
            yield inner


def _of_library(function: types.FunctionType) -> bool:
    return (function.__module__ or "").split(".")[0] in LIBRARIES


def _lasting(code: types.CodeType, names: dict[str, Any]) -> str:
    root = ""
    instructions = list(dis.get_instructions(code))
    opened = _opened(instructions)
    for instruction, after in zip(instructions, [*instructions[1:], None], strict=True):
        operation, value = instruction.opname, instruction.argval
        if operation in ("LOAD_GLOBAL", "LOAD_NAME"):
            if value in FUNCTIONS and value not in names:
                its_own = value == "next" and after is not None and after.argval in opened
                if not its_own and not (value == "open" and _only_reads(code)):
                    return f"calls `{value}`"
            root = "" if isinstance(names.get(value), types.ModuleType) else str(value)
        elif operation in ("LOAD_DEREF", "LOAD_CLASSDEREF", "LOAD_FROM_DICT_OR_DEREF"):
            root = str(value)
        elif operation == "LOAD_FAST":
            root = "self" if value == "self" else ""
        elif operation in ("LOAD_METHOD", "LOAD_ATTR"):
            if root and value in WRITERS:
                return f"calls `{value}` on `{root}`"
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            reason = _lasting(constant, names)
            if reason:
                return reason
    return ""


def _only_reads(code: types.CodeType) -> bool:
    """Whether code that opens files names no mode to write them, and no variable that may hold one."""
    words = [each for each in code.co_consts if isinstance(each, str)]
    writes = any(
        0 < len(each) < 4 and set(each) <= set("rwaxbt+") and set(each) & set("wax+") for each in words
    )
    return not writes and not any("mode" in name for name in (*code.co_varnames, *code.co_names))


def _opened(instructions: list[dis.Instruction]) -> set[str]:
    """Return the local names of files that a function opens, and of readers of them."""
    found: set[str] = set()
    called: set[str] = set()
    for each in instructions:
        if each.starts_line:
            called = set()
        if each.opname.startswith("LOAD_"):
            called.add(str(each.argval))
        elif each.opname == "STORE_FAST" and not called.isdisjoint(_OPENS):
            found.add(str(each.argval))
    return found


def _called(function: types.FunctionType) -> Iterator[types.FunctionType]:
    values = [function.__globals__.get(name) for name in names_of(function.__code__)]
    for cell in function.__closure__ or ():
        try:
            values.append(cell.cell_contents)
        except ValueError:
            continue
    for value in values:
        inner = getattr(value, "python_function", value) if callable(value) else None
        if isinstance(inner, types.FunctionType) and _of_users(inner, function):
            yield inner


def _of_users(function: types.FunctionType, caller: types.FunctionType) -> bool:
    from fitdoctor.failure.frames import is_library

    return function.__module__ == caller.__module__ or not is_library(function.__code__.co_filename)


def names_of(code: types.CodeType) -> set[str]:
    """Return all global and attribute names in a function and its nested functions."""
    found = set(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            found |= names_of(constant)
    return found
