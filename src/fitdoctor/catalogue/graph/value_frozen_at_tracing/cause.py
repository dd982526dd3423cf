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

from fitdoctor.catalogue import Cause
from fitdoctor.catalogue.knowledge.models.layer_numbers import numbers_set_by_callbacks, traced_anew
from fitdoctor.catalogue.knowledge.tracing.renewed_in_loops import Renewed, compiled_for_each
from fitdoctor.catalogue.training_loops import bound_in, decorator_of, loops_around, python_numbers, trains
from fitdoctor.diagnosis import Edit, Evidence, Finding, Fix, Severity
from fitdoctor.edits import fix, spell
from fitdoctor.records import dataclass
from fitdoctor.source.callees import argument_for, callers_of, receiver
from fitdoctor.source.index import FUNCTIONS, names_in
from fitdoctor.source.keras_objects import kind_of_call, kind_of_value
from fitdoctor.source.module import ClassInfo, FunctionInfo, Module
from fitdoctor.source.traced.symbolic import name_of, traced_evidence

CAUSE = Cause(id="FIT411", slug="value-frozen-at-tracing", severity=Severity.WARNING)

_BEFORE_TRAINING = frozenset({"__init__", "set_model", "set_params", "on_train_begin", "build", "compile"})
_KERAS_OWN = frozenset({"trainable", "stop_training", "optimizer", "name", "dtype", "built"})
_ASSIGN: dict[type[ast.operator], str] = {
    ast.Add: "{0}.assign_add({1})",
    ast.Sub: "{0}.assign_sub({1})",
    ast.Mult: "{0}.assign({0} * ({1}))",
}

Change = ast.Assign | ast.AugAssign


@dataclass(frozen=True, eq=False)
class _Value:
    """A Python value that traced code reads."""

    module: Module
    name: str
    made: ast.expr
    """Its initial value."""
    read: ast.expr
    owner: ClassInfo | None = None
    """The class, for an attribute."""

    def changes(self, module: Module) -> Iterator[Change]:
        """Yield the assignments of a file that change the value."""
        statements: list[Change] = [*module.nodes(ast.Assign), *module.nodes(ast.AugAssign)]
        for statement in statements:
            targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
            if len(targets) == 1 and statement.value is not self.made and self._is(module, targets[0]):
                yield statement

    def _is(self, module: Module, target: ast.expr) -> bool:
        match target:
            case ast.Name(id=self.name) | ast.Subscript(value=ast.Name(id=self.name)) if self.owner is None:
                held = isinstance(target, ast.Subscript) == isinstance(self.made, ast.Dict)
                scope = module.index.lookup(self.name, module.scope(target))
                return held and module is self.module and scope is module.index.module
            case ast.Attribute(value=value, attr=self.name) if self.owner is not None:
                if module.own_attribute(target):
                    function = module.function_of(target)
                    late = function is not None and function.name not in _BEFORE_TRAINING
                    return late and module.class_of(target) == self.owner
                known = receiver(module, value)
                if known is not None:
                    return known == self.owner
                others = (other for other in module.classes if other != self.owner)
                elsewhere = any(self.name in module.attribute_stores(other.node) for other in others)
                return not elsewhere and not module.resolve(value)
        return False

    def reads(self, module: Module) -> list[ast.expr]:
        """Return where a file reads it."""
        if self.owner is not None:
            return [each for each in module.attributes.get(self.name, ()) if isinstance(each.ctx, ast.Load)]
        scope = module.index.module
        reads = module.reads.get(self.name, [])
        return [each for each in reads if module.index.lookup(self.name, module.scope(each)) is scope]


@CAUSE.rule("def", "lambda")
def changed_later(module: Module) -> Iterator[Finding]:
    """Find values that traced code reads as Python objects and that change after tracing."""
    modules = module.project.modules if module.project is not None else (module,)
    for value in (*_attributes(module), *_globals(module)) if not module.runs_eagerly else ():
        changes = [
            (other, change)
            for other in modules
            if value.name in other.text
            for change in value.changes(other)
            if _is_after_trace(value, other, change)
        ]
        if changes:
            yield _finding(value, changes)


@CAUSE.rule("tf.function", "@function")
def rebound_objects(module: Module) -> Iterator[Finding]:
    """Find a loop that assigns a new model to a name that a traced function has already read."""
    for function in module.functions if not module.runs_eagerly else ():
        if decorator_of(function) is None or function.owner is not None:
            continue
        calls = (call for caller, call in callers_of(function) if caller is module)
        for call, made in ((call, made) for call in calls if (made := _rebound(module, function, call))):
            (name, first), last = made[0], made[-1]
            claim = "a traced function reads a global only once, during tracing"
            edits = compiled_for_each(Renewed(module, *last, call, function))
            yield CAUSE.finding(
                f"`{function.name}` was traced with the first `{name}` and keeps training that one",
                module.location(module.statement(first)),
                Evidence(claim, location=module.location(call)),
                fix(f"create a new `tf.function` for each `{name}`", edits),
                subject=f"name {name}",
            )
            break


def _rebound(module: Module, function: FunctionInfo, call: ast.Call) -> list[tuple[str, ast.Call]]:
    """Return the globals of the function to which the outermost loop assigns a new model or optimizer."""
    loops, scope = list(loops_around(module, call)), module.index.module
    # Python numbers that change in each iteration have the function retraced.
    numbers = {name for loop in loops for name in python_numbers(module, loop)}
    if len(loops) < 2 or module.function_of(call) is not None or names_in(call) & numbers:
        return []
    if function.node in ast.walk(loops[-1]):
        return []  # a different function in each iteration
    found = []
    for name in sorted(names_in(function.node)):
        if module.index.lookup(name, module.index.scopes[function.node]) is not scope:
            continue
        for target in scope.bindings.get(name, []):
            statement = module.parent(target)
            made = statement.value if isinstance(statement, ast.Assign) else None
            if isinstance(made, ast.Call) and statement in loops[-1].body and isinstance(target, ast.Name):
                kinds = (kind_of_call(module, made), kind_of_value(module, target))
                if {"Model", "Optimizer"} & set(kinds) and name not in names_in(made):
                    found.append((name, made))
    return sorted(found, key=lambda each: each[1].lineno)


@CAUSE.rule("Callback", "callbacks")
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


def _attributes(module: Module) -> Iterator[_Value]:
    seen: set[tuple[ast.AST, str]] = set()
    stored = dict.fromkeys(name for info in module.classes for name in module.attribute_stores(info.node))
    for node in (each for name in stored if name not in _KERAS_OWN for each in module.attributes[name]):
        owner, parent = module.class_of(node), module.parent(node)
        # The number enters the computation or a condition, rather than a call or name.
        called = isinstance(parent, ast.Attribute) or isinstance(parent, ast.Call) and parent.func is node
        if owner is None or called or not isinstance(node.ctx, ast.Load) or not module.own_attribute(node):
            continue
        if (owner.node, node.attr) in seen or not (
            module.runs_traced(node) or _is_in_loss(module, node, owner)
        ):
            continue
        made = _first_value(module, owner, node.attr)
        if made is not None:
            seen.add((owner.node, node.attr))
            yield _Value(module, node.attr, made, node, owner)


def _is_in_loss(module: Module, node: ast.AST, owner: ClassInfo) -> bool:
    """Return whether it is in the `__call__` of an object that is passed to `compile` as a loss: that is traced, too."""
    function = module.function_of(node)
    if function is None or function.name != "__call__" or owner.kind:
        return False
    losses = (call.argument("loss", 1) for call in module.method_calls("compile"))
    made = (module.made_by(loss) for loss in losses if loss is not None)
    return any(isinstance(each, ast.Call) and module.definition(each.func) is owner for each in made)


def _first_value(module: Module, owner: ClassInfo, attribute: str) -> ast.expr | None:
    """Return the initial value from `__init__`, if it is a Python number and no traced code changes it."""
    made: ast.expr | None = None
    for store in module.attribute_stores(owner.node).get(attribute, []):
        function, statement = module.function_of(store), module.parent(store)
        if function is None or function.traced is not None or not isinstance(statement, Change):
            return None
        if function.name == "__init__":
            made = statement.value
    return made if made is not None and _is_number(module, owner, made) else None


def _is_number(module: Module, owner: ClassInfo, value: ast.expr) -> bool:
    init = owner.methods.get("__init__")
    if not isinstance(value, ast.Name) or init is None or value.id not in init.parameters:
        return _is_constant(value) or module.called(value) in ("float", "int", "bool")
    given = [argument_for(init, call, value.id) for _, call in module.calls_of.get(init.node, [])]
    arguments = init.node.args
    names = [each.arg for each in (*arguments.posonlyargs, *arguments.args)]
    defaults = dict(zip(reversed(names), reversed(arguments.defaults), strict=False))
    keywords = dict(zip((each.arg for each in arguments.kwonlyargs), arguments.kw_defaults, strict=True))
    known = [each for each in (*given, (keywords | defaults).get(value.id)) if each is not None]
    return bool(known) and all(_is_constant(each) for each in known)


def _is_constant(value: ast.expr) -> bool:
    return isinstance(value, ast.Constant) and isinstance(value.value, (int, float))


def _globals(module: Module) -> Iterator[_Value]:
    """Yield globals whose initial value is a number or a dict of numbers."""
    for name, bindings in module.index.module.bindings.items():
        statement = module.parent(bindings[0])
        made = (
            statement.value
            if isinstance(statement, ast.Assign) and isinstance(bindings[0], ast.Name)
            else None
        )
        values = made.values if isinstance(made, ast.Dict) else [made]
        if made is None or not values or not all(each is not None and _is_constant(each) for each in values):
            continue
        value = _Value(module, name, made, made)
        read = next((read for read in value.reads(module) if module.runs_traced(read)), None)
        if read is not None:
            yield _Value(module, name, made, read)


# --- changes ------------------------------------------------------------------------------------------------------


def _is_after_trace(value: _Value, module: Module, change: Change) -> bool:
    function = module.function_of(change)
    owner = function.owner if function is not None else None
    if function is None or owner is None:
        return (function is None or function.traced is None) and _is_between_steps(value, module, change)
    if function.traced is not None:
        return False
    if owner.kind == "Callback":
        return function.name not in _BEFORE_TRAINING
    if owner == value.owner:
        return any(_is_called_later(module, call.node) for call in module.method_calls(function.name))
    return _is_between_steps(value, module, change)


def _is_called_later(module: Module, call: ast.Call) -> bool:
    """Return whether a callback, or a loop that trains, makes a call."""
    around = module.function_of(call)
    if around is not None and around.owner is not None and around.owner.kind == "Callback":
        if around.name not in _BEFORE_TRAINING:
            return True
    return any(trains(module, loop) and not _compiles(loop) for loop in loops_around(module, call))


def _is_between_steps(value: _Value, module: Module, change: Change) -> bool:
    """Return whether training runs before and after the change, without a new `compile` in between."""
    target = change.targets[0] if isinstance(change, ast.Assign) else change.target
    roots = names_in(target) if value.owner is not None else set()
    for loop in loops_around(module, change):
        if roots & bound_in(loop) or _compiles(loop):
            return False
        if trains(module, loop):
            return True
    block = [] if isinstance(module.parent(change), ast.If) else module.block(change)
    if not block or _same_as_before(change, [value.made, *(each.value for each in value.changes(module))]):
        return False
    index = block.index(change)
    traced: set[str] = set()
    for at, statement in enumerate(block):
        again = not isinstance(statement, FUNCTIONS) and roots & bound_in(statement)
        if at > index and (_compiles(statement) or again):
            return False
        traced = {key for key in traced if key.partition(".")[0] not in bound_in(statement)}
        if at < index:
            traced.add(trains(module, statement))
        elif at > index and trains(module, statement) in traced - {""}:
            return True
    return False


def _same_as_before(change: Change, values: list[ast.expr]) -> bool:
    """Return whether a constant is set to what the assignment before it has set."""
    earlier = [one for one in values if one.lineno < change.lineno]
    match change, max(earlier, key=lambda one: one.lineno, default=None):
        case ast.Assign(value=ast.Constant(value=new)), ast.Constant(value=old):
            return bool(new == old)
    return False


def _compiles(node: ast.AST) -> bool:
    calls = (each.func for each in ast.walk(node) if isinstance(each, ast.Call))
    return any(getattr(function, "attr", "") == "compile" for function in calls)


# --- telling ------------------------------------------------------------------------------------------------------


def _finding(value: _Value, changes: list[tuple[Module, Change]]) -> Finding:
    module, function = value.module, value.module.function_of(value.read)
    place = f"self.{value.name}" if value.owner is not None else value.name
    where = name_of(function) if function is not None else "traced code"
    other, change = changes[0]
    read = f"{where} reads it during tracing, so it becomes a constant in the graph"
    return CAUSE.finding(
        f"`{place}` is changed after {where} was traced, but the graph keeps the old value",
        module.location(module.statement(value.made)),
        *([traced_evidence(function)] if function is not None and function.traced is not None else []),
        Evidence(read, location=module.location(value.read)),
        Evidence("changed here, after tracing", location=other.location(change)),
        _as_variable(value, changes),
        subject=f"frozen {place}",
    )


def _as_variable(value: _Value, changes: list[tuple[Module, Change]]) -> Fix:
    """Turn the value into a variable, with `assign` wherever it changes."""
    title = "make it a variable and update it with `assign`"
    module, made = value.module, value.made
    modules = list(dict.fromkeys((module, *(other for other, _change in changes))))
    every = [(other, change) for other in modules for change in value.changes(other)]
    number = made.value if isinstance(made, ast.Constant) else None
    plain = (
        not isinstance(made, ast.Dict)
        and not isinstance(number, bool)
        and all(_is_arithmetic_only(value, other) for other in modules)
    )
    known = all(isinstance(each, ast.Assign) or type(each.op) in _ASSIGN for _other, each in every)
    if not plain or not known:
        return fix(title)
    of_tensorflow = value.owner is None and "tensorflow" in dict(module.spellings)
    spelling, imports = spell(
        module.code(made), *(("tensorflow", "tf") if of_tensorflow else ("keras", "keras"))
    )
    start = module.segment(made) + (".0" if isinstance(number, int) else "")
    edits = [Edit(module.location(made), f"{spelling}.Variable({start}, trainable=False)"), *imports]
    for other, change in every:
        target = change.targets[0] if isinstance(change, ast.Assign) else change.target
        pattern = "{0}.assign({1})" if isinstance(change, ast.Assign) else _ASSIGN[type(change.op)]
        text = pattern.format(other.segment(target), other.segment(change.value))
        edits.append(Edit(other.location(change), text))
    return fix(title, edits)


def _is_arithmetic_only(value: _Value, module: Module) -> bool:
    """Return whether every read in a file enters arithmetic or a TensorFlow or Keras function, and no Python branch."""
    for read in value.reads(module):
        parent, statement = module.parent(read), module.statement(read)
        decides = isinstance(statement, (ast.If, ast.While)) and read in ast.walk(statement.test)
        computed = isinstance(parent, ast.BinOp) and not decides
        if not computed and not module.called(parent).startswith(("tensorflow.", "keras.")):
            return False
    return True
