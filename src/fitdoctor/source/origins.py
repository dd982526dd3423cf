"""Follows a value back to the expression that created it: through names, unpacking, splits, functions and files."""

from __future__ import annotations

import ast
import bisect
import functools
from collections.abc import Iterator

from fitdoctor.facts import Code
from fitdoctor.records import dataclass, replace
from fitdoctor.source.assignments import (
    Assignment,
    Path,
    assignment_of,
    assignments,
    element_of,
    last_assignment,
    writes_between,
)
from fitdoctor.source.callees import argument_for, callee, callers_of, is_self, receiver, returned_by
from fitdoctor.source.configured import configured_value
from fitdoctor.source.index import FUNCTIONS, Scope
from fitdoctor.source.module import ClassInfo, Module
from fitdoctor.source.work_budget import spend

__all__ = ["Assignment", "Origin", "Step", "assignments", "data_origin", "made_by", "origin"]

_MAX_STEPS = 40
_MAX_WITHIN = 4
_SPLITS = frozenset(("sklearn.model_selection.train_test_split", "sklearn.cross_validation.train_test_split"))


@dataclass(frozen=True, eq=False)
class Step:
    """One step on the way back."""

    module: Module
    node: ast.AST
    """The location of the value before the step: a name, a call, a parameter."""
    how: str
    """`name`, `augmented`, `attribute`, `element`, `split`, `return`, `argument`, `for`, `with`, `write`."""


@dataclass(frozen=True, eq=False)
class Origin:
    """Where a value comes from."""

    module: Module
    node: ast.expr
    """The expression that created it, in `module`; for `x /= 255` the target of that statement."""
    steps: tuple[Step, ...] = ()
    """The steps from the use backwards."""
    path: Path = ()
    """The part of `node` that it is, where the way ends at a value with parts (`load_data()`: (0, 1))."""
    certain: bool = True
    """Whether every step is unambiguous: no branch, loop or second assignment could give another value."""

    @property
    def writes(self) -> tuple[Step, ...]:
        """The places on the way that changed the value without assigning it (`y[y == 0] = 10`), latest first."""
        return tuple(step for step in self.steps if step.how == "write")

    @property
    def decided(self) -> tuple[Module, ast.AST]:
        """Return where the values were last set: an in-place write, else their creation."""
        for step in self.writes:
            return step.module, step.node
        return self.module, self.node

    @property
    def code(self) -> Code:
        """The code that last decided the values; where that is a write in place, with what made the array."""
        place, node = self.decided
        code = replace(place.code(node), computed_with=_computed_with(place, node))
        return replace(code, maker=self.module.code(self.node)) if self.writes else code


def _computed_with(module: Module, made: ast.AST) -> bool:
    """Whether the function that assigns a value to a name computes with its parts: these expect it as it was made."""
    parent = module.parent(made)
    if not isinstance(parent, ast.Assign) or len(parent.targets) != 1:
        return False
    target = parent.targets[0]
    if not isinstance(target, ast.Name):
        return False
    here, end = module.scope(parent), parent.end_lineno or 0
    lines = _operand_lines(module, target.id, here)
    first = bisect.bisect_right(lines, end)
    if first == len(lines):
        return False
    # A name that is given another value before is another value's there.
    stores = _store_lines(module, target.id, here)
    later = bisect.bisect_right(stores, end)
    return later == len(stores) or lines[first] <= stores[later]


@functools.lru_cache(maxsize=256)
def _operand_lines(module: Module, name: str, scope: Scope) -> list[int]:
    """The lines of a scope that compute with a name, in order."""
    return sorted(
        read.lineno
        for read in module.reads.get(name, ())
        if _is_operand(module, read) and module.scope(read) is scope
    )


@functools.lru_cache(maxsize=256)
def _store_lines(module: Module, name: str, scope: Scope) -> list[int]:
    bound = module.stores(scope, name) if name in scope.bindings else []
    return sorted(getattr(node, "lineno", 0) for node in bound)


def _is_operand(module: Module, read: ast.Name) -> bool:
    """Whether a name is computed with: parts of several axes, an index, arithmetic; rows and names hand it on."""
    parent = module.parent(read)
    if isinstance(parent, ast.Subscript):
        return parent.slice is read or isinstance(parent.slice, ast.Tuple)
    if isinstance(parent, ast.Tuple):
        around = module.parent(parent)
        return isinstance(around, ast.Subscript) and around.slice is parent
    if isinstance(parent, ast.Attribute):
        return parent.attr in _REDUCTIONS
    return isinstance(parent, (ast.BinOp, ast.Compare))


_REDUCTIONS = frozenset("mean sum max min std argmax argmin any all dot T".split())


@dataclass(frozen=True, eq=False)
class _Place:
    """A point on the way back."""

    module: Module
    node: ast.expr
    path: Path = ()
    certain: bool = True
    steps: tuple[Step, ...] = ()
    within: int = 0
    """How many subscripts deep the way leads: `a[0]` where `a = b[1]` …"""


def origin(module: Module, expr: ast.expr, path: Path = ()) -> Origin:
    """Where a value comes from; `path` picks a part of it."""
    place = _follow(_Place(module, expr, path), through_writes=True, one_file=False)
    steps = place.steps
    if isinstance(place.node, ast.Name):
        # The way ends at a name, such as a parameter: what was done to it before the use still counts.
        found = last_assignment(place.module, place.node)
        steps = (*steps, *_writes(place.module, place.node, found[0].target if found else None))
    return Origin(place.module, place.node, steps, place.path, place.certain)


def data_origin(module: Module, expr: ast.expr, path: Path = ()) -> Origin:
    """Where data comes from; rows that are picked right where they are used (`y[fold]`) are followed to the whole."""
    end = origin(module, expr, path)
    whole = end.node.value if isinstance(end.node, ast.Subscript) and end.node is expr else None
    if whole is None or path or not _picks_rows(module, end.node.slice):  # type: ignore[attr-defined]
        return end
    behind = origin(module, whole)
    return end if isinstance(behind.node, ast.Name) or behind.path else behind


_INDEX_MAKERS = frozenset(
    "permutation choice arange argsort where nonzero flatnonzero randint integers randperm split next".split()
)


def _picks_rows(module: Module, index: ast.expr) -> bool:
    """Whether an index takes some of the rows: a range, a mask, or numbers that a split or a shuffle made."""
    if isinstance(index, (ast.Slice, ast.Compare)):
        return True
    if not isinstance(index, ast.Name):
        return False
    made = origin(module, index).node
    seen: set[ast.AST] = set()
    while isinstance(made, ast.Subscript) and made not in seen:
        seen.add(made)
        made = origin(module, made.value).node
    if isinstance(made, ast.Call):
        name = made.func.attr if isinstance(made.func, ast.Attribute) else getattr(made.func, "id", "")
        return name in _INDEX_MAKERS
    return isinstance(made, ast.Compare)


def shape_of_input(module: Module, call: ast.AST) -> Code | None:
    """Return where the shape of an `Input(…)` is written, if that is elsewhere: in an argument, or a name."""
    given = [keyword.value for keyword in getattr(call, "keywords", ()) if keyword.arg == "shape"]
    given += list(getattr(call, "args", ()))[:1]
    end = origin(module, given[0]) if given else None
    if end is None or end.node is given[0] or not end.certain or end.path:
        return None
    return end.module.code(end.node)


def made_by(module: Module, expr: ast.expr) -> ast.expr:
    """The expression of the same file that last made a value."""
    return _follow(_Place(module, expr), through_writes=False, one_file=True).node


def receivers(module: Module, expr: ast.expr) -> Iterator[ast.expr]:
    """What a chain of methods is called on, step by step back to where it began, each expression once."""
    seen: set[ast.expr] = set()
    while expr not in seen:
        seen.add(expr)
        yield expr
        if isinstance(expr, ast.Call):
            inner = expr.func
        elif isinstance(expr, (ast.Attribute, ast.Subscript)):
            inner = expr.value
        else:
            return
        expr = made_by(module, inner) if isinstance(inner, ast.Name) else inner


def _follow(place: _Place, through_writes: bool, one_file: bool) -> _Place:
    seen = {(place.node, place.path)}
    for _ in range(_MAX_STEPS):
        following = _back(place)
        if following is None or (one_file and following.module is not place.module):
            break
        if (following.node, following.path) in seen:
            break
        seen.add((following.node, following.path))
        place = following
        if not through_writes and isinstance(place.module.parent(place.node), ast.AugAssign):
            if isinstance(getattr(place.node, "ctx", None), ast.Store):
                break
    return place


def _back(place: _Place) -> _Place | None:
    """Return the point one step further back; None at the origin."""
    spend()
    node = place.node
    if isinstance(node, ast.Name):
        return _from_name(place, node)
    if isinstance(node, ast.Attribute):
        return _from_attribute(place, node)
    if isinstance(node, ast.Subscript):
        return _from_subscript(place, node)
    if isinstance(node, ast.Call):
        return _from_call(place, node)
    if isinstance(node, ast.NamedExpr):
        return _stepped(place, place.module, node.value, place.path, "name")
    if place.path:
        element = element_of(node, place.path[0])
        if element is not None:
            return _stepped(place, place.module, element, place.path[1:], "element")
    return None


def _stepped(
    place: _Place, module: Module, node: ast.expr, path: Path, how: str, certain: bool = True
) -> _Place:
    steps = (*place.steps, Step(place.module, place.node, how))
    return _Place(module, node, path, place.certain and certain, steps, place.within)


def _from_name(place: _Place, node: ast.Name) -> _Place | None:
    module = place.module
    found = last_assignment(module, node)
    if found is None:
        return None
    assignment, certain = found
    target = assignment.target
    place = replace(place, steps=(*place.steps, *_writes(module, node, target)))
    if assignment.how == "parameter":
        return _from_parameter(place, target)
    if assignment.how == "augmented" and isinstance(target, ast.Name):
        step = Step(module, module.statement(target), "write")
        return replace(place, node=target, certain=place.certain and certain, steps=(*place.steps, step))
    if assignment.value is None:
        return _from_import(place, node) if assignment.how == "import" else None
    if assignment.how == "for":
        return _from_loop(place, assignment, certain)
    how = "with" if assignment.how == "with" else "name"
    return _stepped(place, module, assignment.value, (*assignment.path, *place.path), how, certain)


def _writes(module: Module, use: ast.Name, target: ast.AST | None) -> tuple[Step, ...]:
    return tuple(Step(module, write, "write") for write in writes_between(module, use, target))


def _from_import(place: _Place, node: ast.expr) -> _Place | None:
    """A global of another file of the project."""
    project = place.module.project
    found = project.global_value(place.module, place.module.dotted(node)) if project else None
    if found is None:
        return None
    module, value, certain = found
    return _stepped(place, module, value, place.path, "import", certain)


def _from_parameter(place: _Place, parameter: ast.AST) -> _Place | None:
    """The argument, where the function is called exactly once."""
    module = place.module
    function = module.scope(parameter).node
    if not isinstance(parameter, ast.arg) or not isinstance(function, FUNCTIONS):
        return None
    info = module.function(function)
    callers = callers_of(info)
    if len(callers) != 1:
        return None
    calling, call = callers[0]
    argument = argument_for(info, call, parameter.arg)
    spread = next((keyword.value for keyword in call.keywords if keyword.arg is None), None)
    if argument is None and spread is not None:
        return _stepped(place, calling, spread, (parameter.arg, *place.path), "argument")
    if argument is None:
        argument = _default(function.args, parameter.arg)
        calling = module
    if argument is None:
        return None
    return _stepped(place, calling, argument, place.path, "argument")


def _default(arguments: ast.arguments, name: str) -> ast.expr | None:
    positional = [argument.arg for argument in (*arguments.posonlyargs, *arguments.args)]
    defaults = dict(zip(reversed(positional), reversed(arguments.defaults), strict=False))
    keyword_only = [argument.arg for argument in arguments.kwonlyargs]
    given = dict(zip(keyword_only, arguments.kw_defaults, strict=True))
    return defaults.get(name) or given.get(name)


def _from_loop(place: _Place, assignment: Assignment, certain: bool) -> _Place | None:
    """What a loop runs over; through `zip` and `enumerate` to the one that the target comes from."""
    module, value, path = place.module, assignment.value, assignment.path
    if value is None:
        return None
    while isinstance(value, ast.Call) and len(path) > 1 and isinstance(path[1], int):
        name = module.resolve(value.func)
        plain = not any(isinstance(argument, ast.Starred) for argument in value.args)
        if name == "zip" and plain and path[1] < len(value.args):
            value, path = value.args[path[1]], (None, *path[2:])
        elif name == "enumerate" and path[1] == 1 and value.args:
            value, path = value.args[0], (None, *path[2:])
        else:
            break
    return _stepped(place, module, value, (*path, *place.path), "for", certain)


def _from_attribute(place: _Place, node: ast.Attribute) -> _Place | None:
    """`self.x`, or `x` of an object of the user's class, where the class assigns it."""
    module = place.module
    owner = receiver(module, node.value)
    if owner is None:
        named = module.definition(node.value) if isinstance(node.value, ast.Name) else None
        if named is None and _is_own_class(module, node.value):
            named = module.class_of(node)
        if isinstance(named, ClassInfo):
            return _from_class(place, node, named)
        imported = _from_import(place, node) if module.dotted(node) else None
        return imported if imported is not None else _from_configuration(place, node)
    for ancestor in owner.module.ancestry(owner):
        stores = ancestor.module.attribute_stores(ancestor.node).get(node.attr)
        if stores:
            return _from_store(place, node, ancestor, stores)
    held = _from_configuration(place, node)
    return held if held is not None or not is_self(module, node.value) else _from_class(place, node, owner)


def _is_own_class(module: Module, value: ast.expr) -> bool:
    """Whether an expression is the `cls` of a class method."""
    function = module.function_of(value)
    if function is None or isinstance(function.node, ast.Lambda) or not function.parameters:
        return False
    decorators = {module.resolve(each) for each in function.node.decorator_list}
    return isinstance(value, ast.Name) and value.id == function.parameters[0] and "classmethod" in decorators


def _from_configuration(place: _Place, node: ast.Attribute) -> _Place | None:
    """`config.path`: what the object was created with, or the default of its class or option."""
    if place.within >= _MAX_WITHIN:
        return None
    held = _follow(
        replace(place, node=node.value, path=(), steps=(), within=place.within + 1),
        through_writes=True,
        one_file=False,
    )
    found = configured_value(held.module, held.node, node.attr) if not held.path else None
    if found is None or _is_written(node.attr, {place.module, held.module, found[0]}):
        return None
    return _stepped(place, *found, place.path, "attribute", held.certain)


def _is_written(attribute: str, modules: set[Module]) -> bool:
    """Whether one of the files assigns to an attribute of this name."""
    return any(
        not isinstance(each.ctx, ast.Load)
        for module in modules
        for each in module.attributes.get(attribute, ())
    )


def _from_class(place: _Place, node: ast.Attribute, owner: ClassInfo) -> _Place | None:
    """`Config.path`: assigned once in the body of the class, and nowhere else."""
    values = [
        statement.value
        for statement in owner.node.body
        if isinstance(statement, (ast.Assign, ast.AnnAssign)) and statement.value is not None
        for target in (statement.targets if isinstance(statement, ast.Assign) else [statement.target])
        if isinstance(target, ast.Name) and target.id == node.attr
    ]
    if len(values) != 1:
        return None
    written = _is_written(node.attr, {place.module, owner.module})
    return None if written else _stepped(place, owner.module, values[0], place.path, "attribute", True)


def _from_store(place: _Place, node: ast.Attribute, owner: ClassInfo, stores: list[ast.AST]) -> _Place | None:
    target, certain = stores[-1], len(stores) == 1
    if owner.module is place.module:
        function = place.module.function_of(node)
        earlier = [
            store
            for store in stores
            if place.module.function_of(store) is function and store.lineno < node.lineno  # type: ignore[attr-defined]
        ]
        if earlier:
            target = earlier[-1]
    assignment = assignment_of(owner.module, target)
    if assignment.value is None or assignment.how != "=":
        return None
    path = (*assignment.path, *place.path)
    return _stepped(place, owner.module, assignment.value, path, "attribute", certain)


def _from_subscript(place: _Place, node: ast.Subscript) -> _Place | None:
    """A part that is picked by a constant, where what it is picked from is written out."""
    key = node.slice.value if isinstance(node.slice, ast.Constant) else None
    if place.within >= _MAX_WITHIN:
        return None
    if not isinstance(key, (int, str)) or isinstance(key, bool):
        return None
    steps = (*place.steps, Step(place.module, node, "element"))
    inner = replace(place, node=node.value, path=(key, *place.path), steps=steps, within=place.within + 1)
    end = _follow(inner, through_writes=True, one_file=False)
    if len(end.path) > len(place.path) or end.node is node.value:
        return None
    return replace(end, within=place.within)


def _from_call(place: _Place, node: ast.Call) -> _Place | None:
    module = place.module
    held = element_of(node, place.path[0]) if place.path else None
    if held is not None:
        return _stepped(place, module, held, place.path[1:], "element")
    name = module.resolve(node.func)
    if name in _SPLITS and place.path and isinstance(place.path[0], int):
        position = place.path[0] // 2
        if place.path[0] >= 0 and position < len(node.args):
            if not any(isinstance(argument, ast.Starred) for argument in node.args):
                return _stepped(place, module, node.args[position], place.path[1:], "split")
        return None
    function = None if name else callee(module, node)
    if function is None and module.project is not None:
        function = callee(module, node)
    if function is None or function.name in ("__init__", "call", "__call__"):
        return None
    value = returned_by(function)
    if value is None:
        return None
    return _stepped(place, function.module, value, place.path, "return")
