"""Subclass of a Keras class without `super().__init__()`.

## What happens

A model raises `AttributeError: 'MLP' object has no attribute '_dtype_policy'` when it is compiled. A layer raises
`'Scale' object has no attribute 'name'` when it is added to a `Sequential`, `'_trainable'` when a model tracks it, or
`RuntimeError: In layer 'Scale', you forgot to call super().__init__()` when it is called. A loss has no `name`, and a
metric cannot create its weights.

## Why

The base class initializes the object in its `__init__`: name, dtype policy, lists of weights. Plain attributes and even
layers may be set before that call; `add_weight` may not run before it. `super().__init__(self)` passes one argument too
many (`takes 1 positional argument but 2 were given`), and `super(Layer, self).__init__()` in a subclass of `Layer` skips
`Layer.__init__`.

## Fix

Call `super().__init__()` in the first line of `__init__`, and pass on any `**kwargs`.

## Known limits

A late but harmless call is not reported. Callbacks and constraints do not need the call.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import Any, TypeGuard

from fitdoctor.catalogue import Cause
from fitdoctor.diagnosis import Confidence, Edit, Evidence, Finding, Fix, Location, Severity
from fitdoctor.edits import fix, insert_before
from fitdoctor.facts import FailureFacts
from fitdoctor.source.callees import is_self
from fitdoctor.source.line_edits import delete_lines, with_comment
from fitdoctor.source.module import ClassInfo, FunctionInfo, Module
from fitdoctor.source.traced.symbolic import own_nodes

CAUSE = Cause(
    id="FIT308",
    slug="super-init-missing",
    severity=Severity.ERROR,
    raises=("AttributeError", "RuntimeError", "TypeError"),
)

_NEEDS_IT = frozenset({"Layer", "Model", "Loss", "Metric"})
_ROOTS = frozenset(
    "keras.Layer keras.layers.Layer keras.Model keras.Sequential keras.losses.Loss keras.metrics.Metric".split()
)
_TOO_EARLY = frozenset({"add_weight", "add_variable", "add_loss"})
"""Base class methods that fail before `__init__`."""
_PREPARED = frozenset({"name", "_name", "dtype", "reduction", "trainable", "layers", "built", "losses"})


_ATTRIBUTE = rf"'(?P<name>[\w.]+)' object has no attribute '(?:_\w*|{'|'.join(sorted(_PREPARED))})'"
_FORGOTTEN = r"(?:In layer '(?P<layer>\w+)')?[^\n]{0,80}forgot to call[^\n]{0,20}super\("


@CAUSE.rule("class", says=r"__init__\(\) takes", types=("TypeError",))
def base_not_initialized(module: Module) -> Iterator[Finding]:
    """Report subclasses whose `__init__` calls the base `__init__` wrongly, too late or not at all."""
    yield from filter(None, map(_judged, module.classes))


@CAUSE.rule(says=f"{_ATTRIBUTE}|{_FORGOTTEN}", in_source=False, anywhere=True)
def class_of_failure(module: Module, failure: FailureFacts | None) -> Iterator[Finding]:
    """Report the class that the exception names; the base class sets the attribute that is missing."""
    said = re.search(f"{_ATTRIBUTE}|{_FORGOTTEN}", failure.message) if failure is not None else None
    name = (said["name"] or said["layer"] or "").rpartition(".")[2] if said is not None else ""
    for info in module.classes:
        found = _judged(info) if name in ("", info.name) else None
        if found is not None:
            yield found


def _told(says: str, who: str, subject: str, **details: Any) -> None:
    problem = f"{who} does not call `super().__init__()` first in its `__init__`"
    CAUSE.message(says, problem, "call `super().__init__()` first", subject=subject, **details)


_told(
    r"In layer '(?P<name>\w+)'[^\n]{0,80}forgot to call",
    "`{name}`",
    "class {name}",
    confidence=Confidence.CERTAIN,
)
_told(_FORGOTTEN, "a class", "class", confidence=Confidence.CERTAIN)
_told(r"'(?P<name>[\w.]+)' object has no attribute '_dtype_policy'", "`{name}`", "class {name}")
# `Sequential.add` reads the name of each layer.
_told(_ATTRIBUTE, "`{name}`", "class {name}", place=re.compile(":_is_layer_name_unique$"))


def _judged(info: ClassInfo) -> Finding | None:
    init = info.methods.get("__init__")
    if info.kind not in _NEEDS_IT or init is None or not isinstance(init.node, ast.FunctionDef):
        return None
    if info.kind == "Layer" and ("__call__" in info.methods or not _is_layer(info)):
        return None  # the missing setup matters only if it is called as a layer
    if info.kind == "Loss" and _stands_alone(info) or info.kind == "Model" and _only_holds_values(info):
        return None
    calls = [node for node in own_nodes(init) if _calls_base(node)]
    for call in calls:
        wrong = _called_wrongly(info, call)
        if wrong is not None:
            return _wrong_call(info, call, *wrong)
    if not calls and (named := _named_only(init)) is not None:
        return _without_parentheses(info, named)
    if not calls:
        return None if _prepared_elsewhere(info, init) else _missing(info, init)
    early = [
        site.node
        for site in init.calls
        if info.module.own_attribute(site.node.func) in _TOO_EARLY
        and (site.node.end_lineno or site.node.lineno) < calls[0].lineno
    ]
    return _late(info, init, early[0], calls[0]) if early else None


def _stands_alone(info: ClassInfo) -> bool:
    """Whether a loss defines `__call__` and a name itself and so needs no base setup."""
    lineage = info.module.ancestry(info)
    named = any(
        isinstance(part, ast.Assign) and any(isinstance(t, ast.Name) and t.id == "name" for t in part.targets)
        for ancestor in lineage
        for part in ancestor.node.body
    )
    named = named or any(
        "name" in ancestor.methods or "name" in ancestor.module.attribute_stores(ancestor.node)
        for ancestor in lineage
    )
    return named and any("__call__" in ancestor.methods for ancestor in lineage)


def _only_holds_values(info: ClassInfo) -> bool:
    """Whether a model stands in for a real one: it only sets attributes to constants, as a test of a callback needs."""
    return info.methods.keys() == {"__init__"} and all(
        isinstance(part, ast.Assign) and isinstance(part.value, ast.Constant)
        for part in getattr(info.methods["__init__"].node, "body", ())
    )


def _is_layer(info: ClassInfo) -> bool:
    """Whether the class can be called as a layer: it has or inherits a `call`."""
    if info.module.method(info, "call") is not None:
        return True
    bases = {base for ancestor in info.module.ancestry(info) for base in ancestor.bases}
    return any(base.startswith("keras.") and base.rpartition(".")[2] != "Layer" for base in bases)


def _calls_base(node: ast.AST) -> TypeGuard[ast.Call]:
    """Whether a node is `super().__init__(…)` or `Base.__init__(self, …)`."""
    return (
        isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "__init__"
    )


def _called_wrongly(info: ClassInfo, call: ast.Call) -> tuple[str, str, tuple[Edit, ...]] | None:
    """Return problem, correct form and edits for `super().__init__(self)` or `super(Layer, self).__init__()`."""
    assert isinstance(call.func, ast.Attribute)
    module, base = info.module, call.func.value
    if not isinstance(base, ast.Call) or not isinstance(base.func, ast.Name) or base.func.id != "super":
        return None
    # `super(GRU, self)` passes the arguments of `RNN.__init__` on purpose; nothing is above these.
    if base.args and module.resolve(base.args[0]) in _ROOTS:
        name = module.segment(base.args[0])
        here = module.location(base)
        return f"skips that of `{name}`", f"`super({info.name}, self)`", (Edit(here, "super()"),)
    # `Model.__init__` of Keras 2 ignores positional arguments unless they are inputs and outputs.
    ignored = module.keras == 2 and info.kind == "Model" and len(call.args) == 1
    if call.args and is_self(module, call.args[0]) and not ignored and not _needs_arguments(info):
        here, last = module.location(call.args[0]), len(call.args) == 1 and not call.keywords
        rest = next(iter([*call.args[1:], *call.keywords]), None)
        until = here if last or rest is None else _up_to(here, module.location(rest))
        return "passes `self` as an argument", "`super().__init__()`", (Edit(until, ""),)
    return None


def _up_to(here: Location, next_one: Location) -> Location:
    return Location(here.path, here.line, here.column, next_one.line, next_one.column, here.cell)


def _wrong_call(info: ClassInfo, call: ast.Call, why: str, wanted: str, edits: tuple[Edit, ...]) -> Finding:
    module = info.module
    return CAUSE.finding(
        f"the base `__init__` call in `{info.name}` {why}",
        module.location(call),
        Evidence(f"`{info.name}` is a Keras {info.kind.lower()}", f"`{module.segment(call)}`", wanted),
        fix("call `super().__init__()`", edits),
        subject=f"class {info.name}",
    )


def _named_only(init: FunctionInfo) -> ast.Attribute | None:
    """Return a statement `super().__init__` that does not call the method."""
    for node in own_nodes(init):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Attribute):
            if ast.unparse(node.value) == "super().__init__":
                return node.value
    return None


def _without_parentheses(info: ClassInfo, named: ast.Attribute) -> Finding:
    module = info.module
    here = module.location(named)
    return CAUSE.finding(
        f"`{info.name}.__init__` mentions `{module.segment(named)}` but does not call it",
        here,
        Evidence(
            f"`{info.name}` is a Keras {info.kind.lower()}",
            f"`{module.segment(named)}`",
            f"`{module.segment(named)}()`",
        ),
        fix("add the parentheses", (Edit(here.end, "()"),) if not _needs_arguments(info) else ()),
        subject=f"class {info.name}",
    )


def _prepared_elsewhere(info: ClassInfo, init: FunctionInfo) -> bool:
    """Whether a decorator, a metaclass, another method or a function that gets `self` may call the base `__init__`.

    Also whether `self.__dict__` is filled from a finished model.
    """
    if init.node.decorator_list if isinstance(init.node, ast.FunctionDef) else ():
        return True
    if info.node.keywords or "__new__" in info.methods:
        return True
    if any(_calls_base(node) for method in info.methods.values() for node in own_nodes(method)):
        return True
    for node in own_nodes(init):
        if isinstance(node, ast.Name) and node.id == "super":
            return True
        if isinstance(node, ast.Attribute) and node.attr == "__dict__":
            return True
        if isinstance(node, ast.Call) and any(is_self(info.module, argument) for argument in node.args):
            return True
    return False


def _missing(info: ClassInfo, init: FunctionInfo) -> Finding:
    module, node = info.module, init.node
    assert isinstance(node, ast.FunctionDef)
    first = (init.statements or node.body)[0]
    edits = insert_before(module.code(first), _base_call(init)) if not _needs_arguments(info) else ()
    return CAUSE.finding(
        f"`{info.name}.__init__` does not call `super().__init__()`",
        _head(module, node),
        Evidence(
            f"`{info.name}` is a Keras {info.kind.lower()}",
            "no `super().__init__()` call",
            "`super().__init__()` first",
            location=module.location(info.node),
        ),
        fix("call `super().__init__()` first", edits),
        subject=f"class {info.name}",
    )


def _head(module: Module, node: ast.FunctionDef) -> Location:
    """Return the line with the function's name."""
    whole = module.location(node)
    return Location(whole.path, whole.line, whole.column, whole.line, 0, whole.cell)


def _base_call(init: FunctionInfo) -> str:
    assert isinstance(init.node, ast.FunctionDef)
    arguments = []
    if "name" in init.parameters:
        arguments.append("name=name")
    if init.node.args.kwarg is not None:
        arguments.append(f"**{init.node.args.kwarg.arg}")
    return f"super().__init__({', '.join(arguments)})"


def _needs_arguments(info: ClassInfo) -> bool:
    """Whether the base is a user class whose `__init__` has required parameters."""
    for ancestor in info.module.ancestry(info)[1:]:
        init = ancestor.methods.get("__init__")
        if init is not None and isinstance(init.node, ast.FunctionDef):
            arguments = init.node.args
            wanted = len(arguments.posonlyargs) + len(arguments.args) - 1 - len(arguments.defaults)
            return wanted > 0 or any(default is None for default in arguments.kw_defaults)
    return False


def _late(info: ClassInfo, init: FunctionInfo, early: ast.Call, call: ast.AST) -> Finding:
    module = info.module
    assert isinstance(early.func, ast.Attribute)
    return CAUSE.finding(
        f"`self.{early.func.attr}` is called before `super().__init__()`",
        module.location(early),
        Evidence("the base class is initialized only here", location=module.location(call)),
        _moved_up(module, init, call),
        subject=f"class {info.name}",
    )


def _moved_up(module: Module, init: FunctionInfo, call: ast.AST) -> Fix:
    title = "call `super().__init__()` first"
    node = init.node
    statement = module.statement(call)
    assert isinstance(node, ast.FunctionDef)
    names = {part.id for part in ast.walk(statement) if isinstance(part, ast.Name)} - {"super", "self"}
    own = init.owner.name if init.owner is not None else ""  # as in `super(Scale, self)`
    if statement not in node.body or not names <= {*init.parameters, own}:
        return fix(title)
    edits = insert_before(module.code((init.statements or node.body)[0]), with_comment(module, statement))
    return fix(title, edits, (delete_lines(module, statement),) if edits else ())
