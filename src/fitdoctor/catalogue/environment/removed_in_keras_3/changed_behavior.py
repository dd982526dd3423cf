"""What Keras 3 no longer does for a program: convert numbers, set attributes, keep old keys, call old methods."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fitdoctor.catalogue.environment.removed_in_keras_3.entry import CAUSE
from fitdoctor.diagnosis import Edit, Evidence, Finding, Location
from fitdoctor.edits import fix, insert_before
from fitdoctor.facts import Frame
from fitdoctor.failure.failed_line import at_frame
from fitdoctor.source.callees import is_self
from fitdoctor.source.conditions import knows_another_way
from fitdoctor.source.keras_changes import changes
from fitdoctor.source.keras_names import INPUTS
from fitdoctor.source.module import CallSite, ClassInfo, Module

# --- keys of the history ----------------------------------------------------------------------------------------------


def old_history_keys(module: Module, at: Frame | None) -> Iterator[Finding]:
    """Find `history.history["acc"]` if every `compile` uses "accuracy" and none uses "acc"."""
    found = list(_history_keys(module, at))
    if not found or at is None and not _asks_for_accuracy(module):
        return
    edits = [
        Edit(module.location(node.slice), module.segment(node.slice).replace(old, new))
        for node, old, new in dict.fromkeys((*found, *_history_keys(module, None)))
    ]
    for node, old, new in found:
        yield CAUSE.finding(
            f"the history has no key `{old}`; the key is `{new}`",
            module.location(node),
            Evidence("history key", old, new),
            fix(f"use `{new}`", edits),
            subject=f"history key {old}",
        )


def _history_keys(module: Module, at: Frame | None) -> Iterator[tuple[ast.Subscript, str, str]]:
    for node in module.nodes(ast.Subscript):
        key = node.slice.value if isinstance(node.slice, ast.Constant) else None
        change = changes("history").get(key) if isinstance(key, str) else None
        if change is None:
            continue
        if at is not None:
            wanted = at_frame(module, node, at)
        else:
            of_history = isinstance(node.value, ast.Attribute) and node.value.attr == "history"
            wanted = of_history and not _looks_first(module, node, (change.name, change.new))
        if wanted:
            yield node, change.name, change.new


def _looks_first(module: Module, node: ast.Subscript, names: tuple[str, str]) -> bool:
    """Return whether the program handles both names: by a `try`, or by asking `"acc" in history.history`."""
    inner: ast.AST = node
    parent = module.parent(node)
    while parent is not None:
        if isinstance(parent, (ast.If, ast.IfExp)) and inner is not parent.test:
            asked = (part.value for part in ast.walk(parent.test) if isinstance(part, ast.Constant))
            if any(word in names for word in asked):
                return True
        inner, parent = parent, module.parent(parent)
    return knows_another_way(module, node)


def _asks_for_accuracy(module: Module) -> bool:
    words = [
        constant.value
        for site in module.method_calls("compile")
        for constant in ast.walk(site.argument("metrics", 2) or ast.Tuple([], ast.Load()))
        if isinstance(constant, ast.Constant)
    ]
    return "accuracy" in words and "acc" not in words


# --- numbers where Keras 3 expects something else ---------------------------------------------------------------------


def numbers_as_shapes(module: Module) -> Iterator[Finding]:
    """Find `Input(shape=(10))`, which is `Input(shape=10)`: Keras 2 accepted a number."""
    for site in module.calls:
        given = _input_shape(site)
        if given is None or not _is_number(module, given):
            continue
        text, here = module.segment(given), module.location(given)
        # `shape=(10)` already has parentheses, which are not part of the number.
        before = module.line_text(here.line, here.cell)[: here.column - 1].replace(" ", "")
        edit = Edit(here.end, ",") if before.endswith("=(") else Edit(here, f"({text},)")
        yield CAUSE.finding(
            f"`{text}` is a number, but Keras 3 expects a shape, and a one-element tuple needs a comma",
            module.location(given),
            Evidence("shape", text, f"({text},)"),
            fix(f"write `({text},)`", (edit,)),
            subject="input shape of the model",
        )


def _input_shape(site: CallSite) -> ast.expr | None:
    if not site.name.startswith("keras."):
        return None  # Keras 2 (`tf_keras`) accepts a number
    if site.name in INPUTS:
        return site.argument("shape", 0)
    return site.argument("input_shape") if site.name.startswith("keras.layers.") else None


def _is_number(module: Module, given: ast.expr) -> bool:
    """Return whether it is a literal or counted integer: `10`, `28 * 28`, `len(columns)`, `x.shape[1]`."""
    match module.made_by(given):
        case ast.BinOp(left=left, right=right):
            return _is_number(module, left) and _is_number(module, right)
        case ast.Constant(value=value):
            return isinstance(value, int) and not isinstance(value, bool)
        case ast.Call(func=ast.Name(id="len")):
            return True
        case ast.Subscript(value=ast.Attribute(attr="shape"), slice=ast.Constant() | ast.UnaryOp()):
            return True
    return False


# --- attributes that Keras 3 does not set -----------------------------------------------------------------------------

_NOW = {"input": "inputs[0]", "output": "outputs[0]"}


def ends_of_uncalled_model(module: Module, at: Frame | None) -> Iterator[Finding]:
    """Find `.input` of a Sequential, which Keras 2 set as soon as the input shape was known; once per model."""
    if at is None and "Sequential" not in module.text:
        return
    reported: set[str] = set()
    reads = [
        node for node in module.nodes(ast.Attribute) if node.attr in _NOW and isinstance(node.ctx, ast.Load)
    ]
    for node in reads:
        receiver = module.segment(node.value)
        if receiver in reported:
            continue
        if "layers" in receiver if at is not None else not _is_uncalled(module, node.value):
            continue
        if at is None:
            reported.add(receiver)
        edits = [
            Edit(module.location(each), f"{receiver}.{_NOW[each.attr]}")
            for each in reads
            if module.segment(each.value) == receiver
        ]
        new = f"{receiver}.{_NOW[node.attr]}"
        yield CAUSE.finding(
            f"a Keras 3 `Sequential` has no `{node.attr}` until it is called on a symbolic tensor",
            module.location(node),
            Evidence("attribute", f"{receiver}.{node.attr}", new),
            fix(f"use `{new}`", edits),
            subject=f"{node.attr} of {receiver}",
        )


def _is_uncalled(module: Module, model: ast.expr) -> bool:
    """Return whether it is a name of a Sequential of this file that is used only for its attributes."""
    made = module.made_by(model) if isinstance(model, ast.Name) else None
    name = module.called(made)
    if not name.startswith("keras.") or name.rpartition(".")[2] != "Sequential":
        return False
    assert isinstance(model, ast.Name)
    return all(isinstance(module.parent(read), ast.Attribute) for read in module.reads.get(model.id, ()))


_DATA = "validation_data"


def validation_data_of_callback(module: Module, at: Frame | None) -> Iterator[Finding]:
    """Find `self.validation_data` in a callback that never sets it, once per class."""
    reported: list[ClassInfo] = []
    for node in module.attributes.get(_DATA, ()):
        owner = module.class_of(node)
        if owner is None or owner.kind != "Callback" or owner in reported:
            continue
        if not isinstance(node.ctx, ast.Load) or not is_self(module, node.value):
            continue
        if at is None:
            if _is_set(module, owner):
                continue
            reported.append(owner)
        yield CAUSE.finding(
            f"Keras does not set `{_DATA}` on callbacks such as `{owner.name}`",
            module.location(node),
            Evidence("attribute that Keras does not set", _DATA),
            fix("pass the data to the callback when you create it", _passed_on(module, owner)),
            subject="validation data in a callback",
        )


def _is_set(module: Module, owner: ClassInfo) -> bool:
    """Return whether the class or the program sets the callback's data."""
    if any(_DATA in ancestor.module.attribute_stores(ancestor.node) for ancestor in module.ancestry(owner)):
        return True
    return any(isinstance(node.ctx, ast.Store) for node in module.attributes[_DATA])


def _passed_on(module: Module, owner: ClassInfo) -> tuple[Edit, ...]:
    """Add `callback.validation_data = (x, y)` before the `fit` call that gets the callback by name."""
    names = {
        target.id
        for site in module.calls
        if module.definition(site.node.func) is owner
        and isinstance(statement := module.parent(site.node), ast.Assign)
        for target in statement.targets
        if isinstance(target, ast.Name)
    }
    for site in module.method_calls("fit"):
        data, callbacks = site.argument(_DATA), site.argument("callbacks")
        for name in ast.walk(callbacks) if data is not None and callbacks is not None else ():
            if isinstance(name, ast.Name) and name.id in names and data is not None:
                line = f"{name.id}.{_DATA} = {module.segment(data)}"
                return insert_before(module.code(site.node), line)
    return ()


# --- optimizers that override what is never called --------------------------------------------------------------------


def old_optimizer_classes(module: Module) -> Iterator[Finding]:
    """Find a custom optimizer that updates variables in methods that Keras 3 never calls."""
    uncalled = changes("never called", "Optimizer")
    for owner in module.classes:
        own = [change for name, change in uncalled.items() if name in owner.methods]
        if owner.kind != "Optimizer" or not own or module.method(owner, "update_step") is not None:
            continue
        older = next((change.name for change in own if change.new == "update_step"), own[0].name)
        yield CAUSE.finding(
            f"`{owner.name}` is written for Keras before 2.11: Keras 3 does not call its `{older}`",
            _first_line(owner, older),
            Evidence("method that updates a variable", older, "update_step"),
            fix(
                "call `super().__init__(learning_rate=learning_rate, name=name)` first, and implement "
                "`update_step(self, gradient, variable, learning_rate)`"
            ),
            subject=f"optimizer {owner.name}",
        )


def _first_line(owner: ClassInfo, older: str) -> Location:
    """Return the first line to change: the base class call without a learning rate, otherwise the method."""
    begin = owner.methods.get("__init__")
    for node in ast.walk(begin.node) if begin is not None else ():
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr == "__init__"
            and not any(keyword.arg == "learning_rate" for keyword in node.keywords)
            and not (node.args and "learning_rate" in owner.module.segment(node.args[0]))
        ):
            return owner.module.location(node)
    return owner.module.code(owner.methods[older].node).location
