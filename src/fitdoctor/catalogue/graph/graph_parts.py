"""Loops and branches that become their own graphs, and what does not get out of them: tensors, names and types."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from fitdoctor.catalogue import Cause
from fitdoctor.catalogue.graph.kept_tensors import GROWING
from fitdoctor.diagnosis import Evidence, Finding, Fix
from fitdoctor.facts import FailureFacts
from fitdoctor.failure.failed_line import at_frame
from fitdoctor.records import dataclass
from fitdoctor.source.datasets import is_dataset
from fitdoctor.source.index import FUNCTIONS, names_in
from fitdoctor.source.module import FunctionInfo, Module
from fitdoctor.source.traced.symbolic import holds_symbolic, is_one_tensor, own_nodes, traced_functions
from fitdoctor.source.traced.tracing import functions_in

_LOOP_FUNCTIONS = frozenset(
    "tensorflow.while_loop tensorflow.map_fn tensorflow.scan tensorflow.foldl tensorflow.foldr "
    "tensorflow.vectorized_map keras.ops.while_loop keras.ops.map keras.ops.scan keras.ops.fori_loop "
    "keras.ops.vectorized_map keras.ops.associative_scan keras.backend.map_fn".split()
)
_BRANCH_FUNCTIONS = frozenset(
    "tensorflow.cond tensorflow.case tensorflow.switch_case keras.ops.cond keras.ops.switch "
    "keras.backend.switch tensorflow.compat.v1.cond".split()
)
LOOPS = (ast.For, ast.While)
CHANGED = (
    r"^['\"](?P<name>[\w.\[\]]+)['\"] has (?P<what>dtype|shape) (?P<first>.{{1,80}}?) {}, "
    r"but (?:has )?(?:dtype|shape)[ =](?P<second>.{{1,80}}?) {}"
)
"""TensorFlow's message about a value that changes in a loop or branch, without the words for before and after."""
OUT_OF_SCOPE = (
    r"is out of scope|captured an external symbolic tensor|"
    r"^An op outside \S+ the function building code is being passed"
)

Part = ast.For | ast.While | ast.If


@dataclass(frozen=True, eq=False)
class Escape:
    """A tensor or name that a loop or branch of the graph sets, and that is read outside it."""

    function: FunctionInfo
    """The function that contains the loop or branch."""
    part: Part | ast.Call
    """The loop, the `if`, or the `tf.while_loop` or `tf.cond` call."""
    node: ast.AST
    """The `append`, assignment or `add_loss` that stores the tensor, or the name that is assigned."""
    holder: str
    """The name, or that of the list; `add_loss` for a loss."""
    value: ast.expr | None = None
    """The tensor in a list."""
    read: ast.AST | None = None
    """Where the enclosing function reads it."""

    @property
    def module(self) -> Module:
        """The file of the function."""
        return self.function.module

    @property
    def head(self) -> ast.AST:
        """What the loop iterates over, or the test of the `if`."""
        return getattr(self.part, "iter", None) or getattr(self.part, "test", None) or self.part

    def read_evidence(self, claim: str) -> list[Evidence]:
        """Return where it is read, if anywhere."""
        return [Evidence(claim, location=self.module.location(self.read))] if self.read is not None else []


def converted_parts(
    function: FunctionInfo, loops: bool, failure: FailureFacts | None = None
) -> Iterator[Part]:
    """Yield the loops, or the `if` statements, that AutoGraph makes part of the graph.

    If a failure shows that one is, without the source showing what is a tensor, those on its lines are yielded too.
    """
    module = function.module
    autograph = function.traced is not None and function.traced.autograph
    for node in own_nodes(function):
        if not isinstance(node, LOOPS if loops else ast.If):
            continue
        failed = failure is not None and any(at_frame(module, node, each) for each in failure.user_frames)
        looped = isinstance(node, ast.For) and _iterates_in_graph(module, node.iter)
        if (
            failed
            or autograph
            and (looped or not isinstance(node, ast.For) and is_one_tensor(module, node.test))
        ):
            yield node


def _iterates_in_graph(module: Module, iterated: ast.expr) -> bool:
    if module.called(iterated) in ("range", "enumerate") and isinstance(iterated, ast.Call):
        return any(is_one_tensor(module, argument) for argument in iterated.args)
    return is_one_tensor(module, iterated) or _is_over_dataset(module, iterated)


def _is_over_dataset(module: Module, iterated: ast.expr) -> bool:
    made = module.origin(iterated)
    return isinstance(made.node, ast.Call) and is_dataset(made.module, made.node)


def escapes_from(module: Module, loops: bool, failure: FailureFacts | None = None) -> Iterator[Escape]:
    """Yield the tensors that escape from the loops or branches of a file, in source order."""
    functions = traced_functions(module) if failure is None else module.functions
    for function in functions:
        if failure is not None:  # a function that is called on the line may create the tensor
            parts = [each for each in own_nodes(function) if isinstance(each, LOOPS if loops else ast.If)]
        else:
            parts = list(converted_parts(function, loops))
        for part in parts:
            yield from _escapes(function, part, part, failure is not None)
        for node in own_nodes(function):
            if module.called(node) in (_LOOP_FUNCTIONS if loops else _BRANCH_FUNCTIONS):
                assert isinstance(node, ast.Call)
                for argument in (*node.args, *(keyword.value for keyword in node.keywords)):
                    for inner in functions_in(module, argument):
                        if inner.module is module:
                            yield from _escapes(function, node, inner.node, failure is not None)


def _escapes(function: FunctionInfo, part: Part | ast.Call, body: ast.AST, failed: bool) -> Iterator[Escape]:
    """Find lists created before the loop or branch, filled in its body and read outside."""
    module, inside = function.module, set(ast.walk(body))
    scope = module.index.scopes[function.node]
    for node in ast.walk(body):
        match node:
            case ast.Call(func=ast.Attribute(attr="add_loss"), args=[value, *_]):
                if not isinstance(part, LOOPS) and (holds_symbolic(module, value) or body is not part):
                    yield Escape(function, part, node, "add_loss", value)
                continue
            case ast.Call(func=ast.Attribute(value=holder, attr=method), args=[*_, value]):
                if method not in GROWING | {"add"}:
                    continue
            case ast.Assign(targets=[ast.Subscript() as holder], value=value):
                pass
            case _:
                continue
        while isinstance(holder, ast.Subscript):
            holder = holder.value
        if (
            not isinstance(holder, ast.Name)
            or module.index.lookup(holder.id, module.scope(holder)) is not scope
        ):
            continue
        outside = [each for each in scope.bindings[holder.id] if each not in inside]
        if not outside or body is part and not _is_list(module, outside, holder):
            continue
        if not failed and not _is_made_in(module, value, body, inside):
            continue
        for use in module.reads.get(holder.id, []):
            after = body is not part or use.lineno > (part.end_lineno or part.lineno)
            if use not in inside and after and not _only_counted(module, use):
                if module.index.lookup(use.id, module.scope(use)) is scope:
                    yield Escape(function, part, node, holder.id, value, use)
                    break


def _is_list(module: Module, bindings: list[ast.AST], name: ast.Name) -> bool:
    # A later assignment such as `outputs = tf.stack(outputs)` rebinds the name.
    before = [module.parent(each) for each in bindings if getattr(each, "lineno", 0) <= name.lineno]
    values = [getattr(statement, "value", None) for statement in before]
    return bool(values) and all(isinstance(each, (ast.List, ast.Dict, ast.ListComp)) for each in values)


def _is_made_in(module: Module, value: ast.expr, body: ast.AST, inside: set[ast.AST]) -> bool:
    """Return whether the tensor is created inside the loop or branch, or passed to it, not merely stored there."""
    if isinstance(body, FUNCTIONS):
        given = set(module.function(body).parameters)
        return holds_symbolic(module, value) or bool(names_in(value) & given)
    if not holds_symbolic(module, value) or not isinstance(value, ast.Name):
        return holds_symbolic(module, value)
    scope = module.index.lookup(value.id, module.scope(value))
    return scope is not None and not inside.isdisjoint(scope.bindings.get(value.id, []))


def _only_counted(module: Module, use: ast.Name) -> bool:
    parent = module.parent(use)
    return getattr(parent, "attr", "") in GROWING | {"add", "clear"} or module.called(parent) in (
        "len",
        "print",
    )


# --- names that only some ways define -----------------------------------------------------------------------------


def carried_but_undefined(module: Module) -> Iterator[Escape]:
    """Find names undefined before a converted loop that it reads before assigning, or that are read after it."""
    for function in traced_functions(module):
        scope = module.index.scopes[function.node]
        for loop in converted_parts(function, loops=True):
            for name, first in stored_names([loop]).items():
                given = name == getattr(getattr(loop, "target", None), "id", "")
                if given or _defined_before(function, loop, name):
                    continue
                uses = [
                    use
                    for use in module.reads.get(name, [])
                    if loop.lineno <= use.lineno <= (loop.end_lineno or loop.lineno)
                    and module.index.lookup(name, module.scope(use)) is scope
                    and (
                        _position(use) < _position(first) or module.statement(use) is module.statement(first)
                    )
                ]
                # AutoGraph invents an initial value for a loop over numbers or rows, but not over a dataset.
                iterated = loop.iter if isinstance(loop, ast.For) else None
                if not uses and iterated and not is_one_tensor(module, iterated):
                    after = (
                        first_read_after(function, loop, name) if _is_over_dataset(module, iterated) else None
                    )
                    uses = [after] if after is not None else []
                if uses:
                    yield Escape(function, loop, first, name, read=uses[0])


def defined_in_one_branch(module: Module, failure: FailureFacts | None = None) -> Iterator[Escape]:
    """Find names that only one branch of a converted `if` defines and that are read after it."""
    for function in traced_functions(module):
        for branch in converted_parts(function, loops=False, failure=failure):
            assert isinstance(branch, ast.If)
            if leaves(branch):
                continue
            first, second = stored_names(branch.body), stored_names(branch.orelse)
            for name in sorted(set(first) ^ set(second)):
                use = first_read_after(function, branch, name)
                if use is not None and not _defined_before(function, branch, name):
                    yield Escape(function, branch, (first | second)[name], name, read=use)


def leaves(branch: ast.If) -> bool:
    """Return whether a branch may leave the function or the current loop iteration."""
    return any(
        isinstance(node, (ast.Return, ast.Raise, ast.Break, ast.Continue)) for node in ast.walk(branch)
    )


def stored_names(statements: Sequence[ast.AST]) -> dict[str, ast.Name]:
    """Return the names that statements assign, without those of functions and comprehensions in them."""
    found: dict[str, ast.Name] = {}
    waiting: list[ast.AST] = list(reversed(statements))
    inner = (*FUNCTIONS, ast.ClassDef, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
    while waiting:
        current = waiting.pop()
        if isinstance(current, ast.Name) and isinstance(current.ctx, ast.Store):
            known = found.setdefault(current.id, current)
            found[current.id] = min(known, current, key=_position)
        if not isinstance(current, inner):
            waiting.extend(ast.iter_child_nodes(current))
    return found


def _defined_before(function: FunctionInfo, part: Part, name: str) -> bool:
    module = function.module
    scope = module.index.scopes[function.node]
    if name in scope.outer or name not in scope.bindings:
        return True
    bindings = scope.bindings[name]
    if any(isinstance(each, ast.arg) or _position(each) < _position(part) for each in bindings):
        return True
    # An earlier iteration of an enclosing loop may have defined it.
    return module.around(part, ast.For, ast.While, ast.Try) is not None


def first_read_after(function: FunctionInfo, part: Part, name: str) -> ast.Name | None:
    """Return the first place after the loop or branch that reads the name, unless it is assigned again before."""
    module, end = function.module, part.end_lineno or part.lineno
    scope = module.index.scopes[function.node]
    later = [each for each in scope.bindings.get(name, []) if getattr(each, "lineno", 0) > end]
    uses = [
        use
        for use in module.reads.get(name, [])
        if use.lineno > end and module.index.lookup(name, module.scope(use)) is scope
    ]
    first = min(uses, key=_position, default=None)
    again = first is not None and any(_position(each) < _position(first) for each in later)
    return None if again else first


def _position(node: ast.AST) -> tuple[int, int]:
    return getattr(node, "lineno", 0), getattr(node, "col_offset", 0)


# --- values that change -------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Change:
    """A name whose dtype or shape TensorFlow reports as different between branches or iterations."""

    module: Module
    part: Part
    name: str
    what: str
    """`dtype` or `shape`."""
    first: str
    second: str
    store: ast.stmt
    """The statement in the loop or branch that assigns the name."""


def changes_in(module: Module, failure: FailureFacts | None, says: str, loops: bool) -> Iterator[Change]:
    """Find the statements of the failing loop or branch that assign the name that changes."""
    import re

    said = re.search(says, failure.message) if failure is not None else None
    for function in module.functions if said is not None else ():
        for part in converted_parts(function, loops, failure):
            for node in ast.walk(part):
                if (
                    said
                    and isinstance(node, ast.Name)
                    and node.id == said["name"]
                    and isinstance(node.ctx, ast.Store)
                ):
                    values = said["name"], said["what"], said["first"], said["second"]
                    yield Change(module, part, *values, module.statement(node))


def changed(cause: Cause, change: Change, subject: str, places: tuple[str, str], fixes: list[Fix]) -> Finding:
    """Report a value that changes, at the line that assigns it."""
    place, (first, second) = change.module.location, places
    head = getattr(change.part, "iter", None) or getattr(change.part, "test", None) or change.part
    return cause.certain(
        f"`{change.name}` has {change.what} {change.first} {first} and {change.second} {second}",
        place(change.store),
        Evidence("TensorFlow makes a single operation of this", location=place(head)),
        *fixes,
        subject=f"{subject} {change.name}",
    )
