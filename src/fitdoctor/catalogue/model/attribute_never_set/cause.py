"""Callback that reads an attribute that is never set.

## What happens

`fit` raises `AttributeError: 'BestLoss' object has no attribute 'best'` when Keras calls the callback: at the first
batch, or only at the end of the first epoch.

## Why

Keras sets `model` and `params` on a callback. Everything else must be set by the callback itself. The line in
`__init__` or `on_train_begin` was forgotten, or the attribute is spelled differently there.

## Fix

Set the attribute in `__init__`, after `super().__init__()`.

## Known limits

Only classes that derive from `keras.callbacks.Callback` through visible classes are checked, and only the methods that
`fit` calls. A program that uses `setattr`, or that sets an attribute of this name on any object, is not reported.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fitdoctor.catalogue import Cause
from fitdoctor.diagnosis import Edit, Evidence, Finding, Fix, Severity
from fitdoctor.edits import fix, insert_after, insert_before
from fitdoctor.facts import FailureFacts
from fitdoctor.failure.patterns import attribute_missing
from fitdoctor.source.callees import is_self
from fitdoctor.source.module import ClassInfo, Module

CAUSE = Cause(id="FIT329", slug="attribute-never-set", severity=Severity.ERROR, raises="AttributeError")

_OF_KERAS = frozenset({"model", "params", "validation_data", "set_model", "set_params", "async_safe"})
_BASE = "keras.callbacks.Callback"
_SETS_BY_NAME = ("setattr(", "__dict__", "__getattr", "__slots__", "vars(")


def _is_of_callback(failure: FailureFacts) -> bool:
    missing, frame = attribute_missing(failure.message), failure.last_user_frame
    if missing is None or frame is None or not frame.function.startswith("on_"):
        return False
    return missing.name not in _OF_KERAS and f"self.{missing.name}" in frame.text


@CAUSE.rule(
    "allback",
    says=r"'(?P<owner>[\w.]+)' object has no attribute '(?P<name>\w+)'",
    types=("AttributeError",),
    problem="`{owner}` reads `self.{name}`, but nothing sets it",
    remedy="set `self.{name}` in `__init__`",
    subject="attribute {name}",
    fits=_is_of_callback,
)
def unset_attribute(module: Module, failure: FailureFacts | None) -> Iterator[Finding]:
    """Report callbacks that read an attribute of their own which no line sets."""
    missing = attribute_missing(failure.message) if failure is not None else None
    files = {module, *(module.project.modules if module.project is not None else ())}
    if failure is None and any(word in each.text for each in files for word in _SETS_BY_NAME):
        return
    for owner in module.classes:
        judged = owner.kind == "Callback" and _is_fully_known(owner) and _is_created(owner, files)
        told: set[str] = set()
        for read in _reads(module, owner) if judged or missing is not None else ():
            if missing is not None:
                unset = read.attr == missing.name and read.attr not in _OF_KERAS
            else:
                unset = read.attr not in told and not _is_set(read.attr, owner, files)
            if unset:
                told.add(read.attr)
                yield _finding(owner, read)


def _is_fully_known(owner: ClassInfo) -> bool:
    """Whether every base class is visible, and none is changed by a decorator."""
    names = {ancestor.name for ancestor in owner.ancestry}
    return all(
        (base == _BASE or base.rpartition(".")[2] in names)
        for ancestor in owner.ancestry
        for base in ancestor.bases
    ) and not any(ancestor.node.decorator_list or ancestor.node.keywords for ancestor in owner.ancestry)


def _is_created(owner: ClassInfo, files: set[Module]) -> bool:
    return any(f"{owner.name}(" in each.text.replace(f"class {owner.name}(", "") for each in files)


def _reads(module: Module, owner: ClassInfo) -> Iterator[ast.Attribute]:
    """Yield the attributes of `self` that the methods called by `fit` read, outside of `try`."""
    for node in module.nodes(ast.Attribute):
        function = module.function_of(node)
        if function is None or function.owner is not owner or not is_self(module, node.value):
            continue
        if not function.name.startswith(("on_train_", "on_epoch_", "on_batch_")):
            continue
        if (isinstance(node.ctx, ast.Load) or _is_augmented(module, node)) and not _is_tried(module, node):
            yield node


def _is_augmented(module: Module, node: ast.Attribute) -> bool:
    """Whether a node is the target of `+=` or the like, which reads it first."""
    parent = module.parent(node)
    return isinstance(parent, ast.AugAssign) and parent.target is node


def _is_tried(module: Module, node: ast.AST) -> bool:
    above = module.parent(node)
    while above is not None and not isinstance(above, ast.FunctionDef):
        if isinstance(above, ast.Try):
            return True
        above = module.parent(above)
    return False


def _is_set(name: str, owner: ClassInfo, files: set[Module]) -> bool:
    """Whether Keras, the class or any line of the program sets the attribute, or asks whether it is set."""
    if name in _OF_KERAS or name.startswith(("_", "on_")):
        return True
    quoted = (f'"{name}"', f"'{name}'")
    for module in files:
        if any(
            isinstance(node.ctx, ast.Store) and not _is_augmented(module, node)
            for node in module.nodes(ast.Attribute)
            if node.attr == name
        ):
            return True
        if "attr(" in module.text and any(text in module.text for text in quoted):
            return True
    return any(_defines(ancestor.node, name) for ancestor in owner.ancestry)


def _defines(node: ast.ClassDef, name: str) -> bool:
    """Whether the body of a class defines a method or class attribute of that name."""
    for part in ast.walk(node):
        if isinstance(part, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)) and part.name == name:
            return True
        if isinstance(part, (ast.Name, ast.alias)) and isinstance(getattr(part, "ctx", None), ast.Store):
            if getattr(part, "id", "") == name:
                return True
    return False


def _finding(owner: ClassInfo, read: ast.Attribute) -> Finding:
    module = owner.module
    return CAUSE.finding(
        f"`{owner.name}` reads `self.{read.attr}`, but nothing sets it",
        module.location(read),
        Evidence(
            "attributes that the callback sets",
            ", ".join(sorted(module.attribute_stores(owner.node))) or "none",
            read.attr,
        ),
        _repair(owner, read),
        subject=f"attribute {read.attr}",
    )


def _repair(owner: ClassInfo, read: ast.Attribute) -> Fix:
    """Correct the spelling, or set the attribute to the value that its use implies."""
    from difflib import get_close_matches

    module, name = owner.module, read.attr
    stored = [each for each in module.attribute_stores(owner.node) if each != name]
    near = get_close_matches(name, stored, 1, 0.85)
    if near:
        place = module.location(read)
        return fix(
            f"did you mean `self.{near[0]}`?", (Edit(place, f"{module.segment(read.value)}.{near[0]}"),)
        )
    value = _implied_value(owner, read)
    title = f"set `self.{name}` in `__init__`"
    return fix(title, _set_at_start(owner, f"self.{name} = {value}")) if value else fix(title)


def _implied_value(owner: ClassInfo, read: ast.Attribute) -> str:
    """Return the first value of an attribute: a parameter of `__init__`, a list, a count or an extreme."""
    init = owner.methods.get("__init__")
    if init is not None and read.attr in init.parameters:
        return read.attr
    parent = owner.module.parent(read)
    if isinstance(parent, ast.Attribute) and parent.attr == "append":
        return "[]"
    if isinstance(parent, ast.AugAssign) and isinstance(parent.op, (ast.Add, ast.Sub)):
        return "0"
    if not isinstance(parent, ast.Compare) or len(parent.ops) != 1:
        return ""
    is_right = parent.comparators[0] is read
    smaller, larger = (
        isinstance(parent.ops[0], (ast.Lt, ast.LtE)),
        isinstance(parent.ops[0], (ast.Gt, ast.GtE)),
    )
    if not smaller and not larger:
        return ""
    return 'float("inf")' if smaller == is_right else '-float("inf")'


def _set_at_start(owner: ClassInfo, line: str) -> tuple[Edit, ...]:
    """Add a line to the end of `__init__`, or such a method to the class."""
    module, init = owner.module, owner.methods.get("__init__")
    if init is not None and isinstance(init.node, ast.FunctionDef):
        return insert_after(module.code(init.node.body[-1]), line)
    first = next((part for part in owner.node.body if isinstance(part, ast.FunctionDef)), None)
    if first is None or first.decorator_list or len(owner.ancestry) > 1:
        return ()
    code = module.code(first)
    inner = f"\n{code.indent}    "
    return insert_before(code, f"def __init__(self):{inner}super().__init__(){inner}{line}\n")


def _writes_logs(failure: FailureFacts) -> bool:
    frame = failure.last_user_frame
    return frame is not None and frame.function.startswith("on_") and "logs[" in frame.text


CAUSE.message(
    r"'NoneType' object does not support item assignment",
    "Keras passes no `logs` to this method of the callback: the parameter is `None`",
    "write `logs = logs or {}` first, or set the value in `on_epoch_end`, which gets the metrics",
    subject="logs",
    types=("TypeError",),
    fits=_writes_logs,
)
