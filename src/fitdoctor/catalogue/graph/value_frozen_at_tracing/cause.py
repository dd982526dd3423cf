"""Python value changed after the step was traced.

## What happens

Nothing fails. A callback sets `self.model.beta = 0.5`, or the script changes a global between two calls, but training
continues with the value from when the step was traced. If a loop creates a new `model` for each fold and the compiled
step reads the model by its global name, the step keeps training the first model.

## Why

Traced code reads a Python attribute or global only once, during tracing, and the number becomes a constant in the
graph. Later assignments change the attribute, but not the graph. Only a new trace, for example after `compile`, picks
them up.

## Fix

Make the value a variable (`keras.Variable(…, trainable=False)` or `self.add_weight`) and change it with `assign`: the
graph reads a variable every time it runs.

## Known limits

A value that is changed before the first `fit`, or whose changes are always followed by `compile`, takes effect and is
not reported.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fitdoctor.catalogue import Cause, mentions
from fitdoctor.catalogue.knowledge.models.layer_numbers import numbers_set_by_callbacks, traced_anew
from fitdoctor.catalogue.training_loops import bound_in, loops_around, trains
from fitdoctor.diagnosis import Edit, Evidence, Finding, Fix, Severity
from fitdoctor.edits import fix, spell
from fitdoctor.records import dataclass
from fitdoctor.source.callees import argument_for, is_self, receiver
from fitdoctor.source.index import FUNCTIONS, names_in
from fitdoctor.source.module import ClassInfo, FunctionInfo, Module
from fitdoctor.source.project import Project
from fitdoctor.source.traced.symbolic import name_of, traced_evidence

CAUSE = Cause(id="FIT411", slug="value-frozen-at-tracing", severity=Severity.WARNING)

_BEFORE_TRAINING = frozenset({"__init__", "set_model", "set_params", "on_train_begin", "build", "compile"})
_KERAS_OWN = frozenset({"trainable", "stop_training", "optimizer", "name", "dtype", "built"})


@dataclass(frozen=True, eq=False)
class _Value:
    """A Python value that traced code reads."""

    module: Module
    name: str
    made: ast.expr
    """Its initial value."""
    read: ast.expr
    owner: ClassInfo | None
    """The class, for an attribute."""


@CAUSE.in_source
@mentions("def", "lambda")
def from_source(module: Module, project: Project) -> Iterator[Finding]:
    """Report values that traced code reads as Python objects and that change after tracing."""
    if module.runs_eagerly:
        return
    for value in (*_attributes(module), *_globals(module)):
        changes = [
            (other, change)
            for other in project.modules
            if value.name in other.text
            for change in _changes(value, other)
            if _is_after_trace(value, other, change)
        ]
        if changes:
            yield _finding(value, changes)


@CAUSE.in_source
@mentions("tf.function", "@function")
def from_loop(module: Module) -> Iterator[Finding]:
    """Report a loop that assigns a new model to a name that a traced function has already read."""
    from fitdoctor.catalogue.graph.value_frozen_at_tracing.rebound_objects import rebound_objects

    if not module.runs_eagerly:
        yield from rebound_objects(CAUSE, module)


@CAUSE.in_source
@mentions("Callback", "callbacks")
def from_layer_number(module: Module) -> Iterator[Finding]:
    """Report a callback that sets a number of a built-in layer, such as the rate of a Dropout."""
    if module.runs_eagerly:
        return
    for target, function in numbers_set_by_callbacks(module):
        yield CAUSE.finding(
            f"{name_of(function)} sets `{target.attr}` of a layer, but the traced step keeps the old value, so the "
            "change has no effect",
            module.location(module.statement(target)),
            Evidence(
                "the layer stores a Python number; the graph contains its value at the time of the first trace"
            ),
            *traced_anew(function, target),
            fix(
                f"use a layer that reads its {target.attr} from a `keras.Variable`, and update it with `assign`"
            ),
            fix("train with several `fit` calls, and set the value and recompile the model before each"),
            subject=f"attribute {target.attr}",
        )


# --- values that traced code reads --------------------------------------------------------------------------------


def _is_traced(module: Module, node: ast.AST) -> FunctionInfo | None:
    function = module.function_of(node)
    if function is None or not function.runs_traced:
        return None
    return function


def _attributes(module: Module) -> Iterator[_Value]:
    seen: set[tuple[ast.AST, str]] = set()
    stored = dict.fromkeys(name for info in module.classes for name in module.attribute_stores(info.node))
    for node in (each for name in stored if name not in _KERAS_OWN for each in module.attributes[name]):
        if not isinstance(node.ctx, ast.Load):
            continue
        if not _is_used_as_value(module, node) or not is_self(module, node.value):
            continue
        owner = module.class_of(node)
        if owner is None or (owner.node, node.attr) in seen or not _is_read_in_trace(module, node, owner):
            continue
        made = _first_value(module, owner, node.attr)
        if made is not None:
            seen.add((owner.node, node.attr))
            yield _Value(module, node.attr, made, node, owner)


def _is_read_in_trace(module: Module, node: ast.AST, owner: ClassInfo) -> bool:
    if _is_traced(module, node) is not None:
        return True
    # An object with `__call__` that is passed to `compile` as a loss runs during tracing.
    function = module.function_of(node)
    return (
        function is not None
        and function.name == "__call__"
        and owner.kind == ""
        and _is_given_to_compile(module, owner)
    )


def _is_given_to_compile(module: Module, owner: ClassInfo) -> bool:
    for call in module.method_calls("compile"):
        loss = call.argument("loss", 1)
        made = module.made_by(loss) if loss is not None else None
        if isinstance(made, ast.Call) and module.definition(made.func) is owner:
            return True
    return False


def _first_value(module: Module, owner: ClassInfo, attribute: str) -> ast.expr | None:
    """Return the initial value from `__init__`, if it is a Python number and no traced code changes it."""
    made: ast.expr | None = None
    for store in module.attribute_stores(owner.node).get(attribute, []):
        function, statement = module.function_of(store), module.parent(store)
        if (
            function is None
            or function.traced is not None
            or not isinstance(statement, (ast.Assign, ast.AugAssign))
        ):
            return None
        if function.name == "__init__":
            made = statement.value
    return made if made is not None and _is_number(module, owner, made) else None


def _is_number(module: Module, owner: ClassInfo, value: ast.expr) -> bool:
    if isinstance(value, ast.Constant):
        return isinstance(value.value, (int, float))
    if isinstance(value, ast.Call):
        return module.resolve(value.func) in ("float", "int", "bool")
    if not isinstance(value, ast.Name):
        return False
    init = owner.methods.get("__init__")
    if init is None or value.id not in init.parameters:
        return False
    given = [argument_for(init, call, value.id) for _, call in module.calls_of.get(init.node, [])]
    known = [argument for argument in given if argument is not None]
    default = _default(init, value.id)
    numbers = [item for item in (*known, default) if isinstance(item, ast.Constant)]
    return (
        bool(numbers)
        and all(isinstance(item.value, (int, float)) for item in numbers)
        and len(numbers) == len([*known, *([default] if default is not None else [])])
    )


def _default(function: FunctionInfo, parameter: str) -> ast.expr | None:
    arguments = function.node.args
    positional = [*arguments.posonlyargs, *arguments.args]
    with_default = positional[len(positional) - len(arguments.defaults) :]
    for argument, default in zip(with_default, arguments.defaults, strict=True):
        if argument.arg == parameter:
            return default
    for argument, keyword in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        if argument.arg == parameter:
            return keyword
    return None


def _is_used_as_value(module: Module, node: ast.AST) -> bool:
    """Return whether the number enters the computation or a condition, rather than a call or name."""
    parent = module.parent(node)
    return not (isinstance(parent, ast.Call) and parent.func is node) and not isinstance(
        parent, ast.Attribute
    )


def _globals(module: Module) -> Iterator[_Value]:
    for name, bindings in module.index.module.bindings.items():
        made = _global_value(module, bindings)
        if made is None:
            continue
        for read in module.reads.get(name, []):
            if module.index.lookup(name, module.scope(read)) is module.index.module and _is_traced(
                module, read
            ):
                yield _Value(module, name, made, read, None)
                break


def _global_value(module: Module, bindings: list[ast.AST]) -> ast.expr | None:
    """Return the initial value of a global, if it is a number or a dict of numbers."""
    statement = module.parent(bindings[0])
    if not isinstance(statement, ast.Assign) or not isinstance(bindings[0], ast.Name):
        return None
    value = statement.value
    if isinstance(value, ast.Constant) and isinstance(value.value, (int, float)):
        return value
    if isinstance(value, ast.Dict) and value.values:
        numbers = all(
            isinstance(item, ast.Constant) and isinstance(item.value, (int, float)) for item in value.values
        )
        return value if numbers else None
    return None


# --- changes ------------------------------------------------------------------------------------------------------


def _changes(value: _Value, module: Module) -> Iterator[ast.Assign | ast.AugAssign]:
    """Return the assignments that change the value."""
    for kind in (ast.Assign, ast.AugAssign):
        for statement in module.nodes(kind):
            assert isinstance(statement, (ast.Assign, ast.AugAssign))
            targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
            if len(targets) == 1 and _is_target(value, module, targets[0]):
                yield statement


def _is_target(value: _Value, module: Module, target: ast.expr) -> bool:
    if value.owner is None:
        name = target.value if isinstance(target, ast.Subscript) else target
        if not isinstance(name, ast.Name) or name.id != value.name or module is not value.module:
            return False
        if isinstance(target, ast.Subscript) != isinstance(value.made, ast.Dict):
            return False
        return module.index.lookup(name.id, module.scope(name)) is module.index.module
    if not isinstance(target, ast.Attribute) or target.attr != value.name:
        return False
    if is_self(module, target.value):
        owner = module.class_of(target)
        function = module.function_of(target)
        return owner == value.owner and function is not None and function.name not in _BEFORE_TRAINING
    known = receiver(module, target.value)
    if known is not None:
        return known == value.owner
    return not module.resolve(target.value) and _only_owner(value, module)


def _only_owner(value: _Value, module: Module) -> bool:
    """Return whether no other class in the file has an attribute of that name."""
    return not any(
        value.name in module.attribute_stores(other.node) for other in module.classes if other != value.owner
    )


def _is_after_trace(value: _Value, module: Module, change: ast.Assign | ast.AugAssign) -> bool:
    if change.value is value.made:
        return False
    function = module.function_of(change)
    if function is not None and function.traced is not None:
        return False
    if function is None:
        return _is_between_steps(value, module, change)
    owner = function.owner
    if owner is not None and owner.kind == "Callback":
        return function.name not in _BEFORE_TRAINING
    if owner is not None and owner == value.owner:
        return _is_set_later(module, function)
    return _is_between_steps(value, module, change)


def _is_set_later(module: Module, setter: FunctionInfo) -> bool:
    """Return whether a callback, or a loop that trains, calls a setter of the class."""
    for call in module.method_calls(setter.name):
        around = call.function
        if around is not None and around.owner is not None and around.owner.kind == "Callback":
            if around.name not in _BEFORE_TRAINING:
                return True
        if any(trains(module, loop) and not _compiles(loop) for loop in loops_around(module, call.node)):
            return True
    return False


def _is_between_steps(value: _Value, module: Module, change: ast.Assign | ast.AugAssign) -> bool:
    """Return whether training runs before and after the change, without a new `compile` in between."""
    target = change.targets[0] if isinstance(change, ast.Assign) else change.target
    roots = names_in(target) if value.owner is not None else set()
    for loop in loops_around(module, change):
        if roots & bound_in(loop) or _compiles(loop):
            return False
        if trains(module, loop):
            return True
    block = _block(module, change)
    if change not in block:
        return False
    index = block.index(change)
    if _same_as_before(change, [value.made, *(each.value for each in _changes(value, module))]):
        return False
    traced: set[str] = set()
    for statement in block[:index]:
        traced = {key for key in traced if key.partition(".")[0] not in bound_in(statement)}
        traced.add(trains(module, statement))
    for statement in block[index + 1 :]:
        if _compiles(statement) or _makes_again(statement, roots):
            break
        traced = {key for key in traced if key.partition(".")[0] not in bound_in(statement)}
        if trains(module, statement) in traced - {""}:
            return True
    return False


def _same_as_before(change: ast.Assign | ast.AugAssign, values: list[ast.expr]) -> bool:
    """Return whether a constant is set to what the assignment before it has set."""
    earlier = [one for one in values if one.lineno < change.lineno]
    last = max(earlier, key=lambda one: one.lineno, default=None)
    return (
        isinstance(change, ast.Assign)
        and isinstance(change.value, ast.Constant)
        and isinstance(last, ast.Constant)
        and last.value == change.value.value
    )


def _block(module: Module, statement: ast.stmt) -> list[ast.stmt]:
    parent = module.parent(statement)
    body: list[ast.stmt] = getattr(parent, "body", [])
    return body if not isinstance(parent, ast.If) else []


def _compiles(node: ast.AST) -> bool:
    return any(
        isinstance(item, ast.Call) and isinstance(item.func, ast.Attribute) and item.func.attr == "compile"
        for item in ast.walk(node)
    )


def _makes_again(statement: ast.stmt, roots: set[str]) -> bool:
    return not isinstance(statement, FUNCTIONS) and bool(roots & bound_in(statement))


# --- telling ------------------------------------------------------------------------------------------------------


def _finding(value: _Value, changes: list[tuple[Module, ast.Assign | ast.AugAssign]]) -> Finding:
    module = value.module
    function = module.function_of(value.read)
    place = f"self.{value.name}" if value.owner is not None else value.name
    where = name_of(function) if function is not None else "traced code"
    other, change = changes[0]
    evidence = [
        Evidence(
            f"{where} reads it during tracing, so it becomes a constant in the graph",
            location=module.location(value.read),
        ),
        Evidence("changed here, after tracing", location=other.location(change)),
    ]
    if function is not None and function.traced is not None:
        evidence.insert(0, traced_evidence(function))
    return CAUSE.finding(
        f"`{place}` is changed after {where} was traced, but the graph keeps the old value",
        module.location(module.statement(value.made)),
        *evidence,
        _as_variable(value, changes),
        subject=f"frozen {place}",
    )


def _as_variable(value: _Value, changes: list[tuple[Module, ast.Assign | ast.AugAssign]]) -> Fix:
    """Turn the value into a variable, with `assign` wherever it changes."""
    module = value.module
    title = "make it a variable and update it with `assign`"
    if isinstance(value.made, ast.Dict) or not _is_arithmetic_only(value):
        return fix(title)
    if isinstance(value.made, ast.Constant) and isinstance(value.made.value, bool):
        return fix(title)
    if any(other is not module for other, _ in changes):
        return fix(title)
    every = list(_changes(value, module))
    every = [change for change in every if change.value is not value.made]
    library, usual = ("tensorflow", "tf") if value.owner is None else ("keras", "keras")
    if library == "tensorflow" and "tensorflow" not in dict(module.spellings):
        library, usual = "keras", "keras"
    spelling, imports = spell(module.code(value.made), library, usual)
    start = module.segment(value.made)
    if isinstance(value.made, ast.Constant) and isinstance(value.made.value, int):
        start = f"{start}.0"
    edits = [Edit(module.location(value.made), f"{spelling}.Variable({start}, trainable=False)"), *imports]
    for change in every:
        text = _assigned(module, change)
        if text is None:
            return fix(title)
        edits.append(Edit(module.location(change), text))
    return fix(title, edits)


def _assigned(module: Module, change: ast.Assign | ast.AugAssign) -> str | None:
    new = module.segment(change.value)
    if isinstance(change, ast.Assign):
        return f"{module.segment(change.targets[0])}.assign({new})"
    target = module.segment(change.target)
    operators: dict[type[ast.operator], str] = {ast.Add: "assign_add", ast.Sub: "assign_sub"}
    name = operators.get(type(change.op))
    if name is not None:
        return f"{target}.{name}({new})"
    return f"{target}.assign({target} * ({new}))" if isinstance(change.op, ast.Mult) else None


def _is_arithmetic_only(value: _Value) -> bool:
    """Return whether every traced read enters arithmetic or a TensorFlow or Keras function."""
    module = value.module
    for read in _reads(value):
        parent = module.parent(read)
        if isinstance(parent, ast.BinOp):
            statement = module.statement(read)
            if isinstance(statement, (ast.If, ast.While)) and not _is_in_body(statement, read):
                return False
            continue
        if module.called(parent).startswith(("tensorflow.", "keras.")):
            continue
        return False
    return True


def _is_in_body(statement: ast.If | ast.While, node: ast.AST) -> bool:
    return not any(item is node for item in ast.walk(statement.test))


def _reads(value: _Value) -> Iterator[ast.AST]:
    module = value.module
    if value.owner is None:
        for read in module.reads.get(value.name, []):
            if module.index.lookup(value.name, module.scope(read)) is module.index.module:
                yield read
        return
    for node in module.nodes(ast.Attribute):
        if node.attr == value.name and isinstance(node.ctx, ast.Load):
            yield node
