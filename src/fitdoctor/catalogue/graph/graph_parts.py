"""Loops and branches that become their own graphs, and the tensors that escape from them."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from fitdoctor.records import dataclass
from fitdoctor.source.datasets import is_dataset
from fitdoctor.source.index import FUNCTIONS, parameters_of
from fitdoctor.source.module import FunctionInfo, Module
from fitdoctor.source.traced.symbolic import holds_symbolic, is_one_tensor, own_nodes, traced_functions
from fitdoctor.source.traced.tracing import functions_in

LOOP_FUNCTIONS = frozenset(
    "tensorflow.while_loop tensorflow.map_fn tensorflow.scan tensorflow.foldl tensorflow.foldr "
    "tensorflow.vectorized_map keras.ops.while_loop keras.ops.map keras.ops.scan keras.ops.fori_loop "
    "keras.ops.vectorized_map keras.ops.associative_scan keras.backend.map_fn".split()
)
BRANCH_FUNCTIONS = frozenset(
    "tensorflow.cond tensorflow.case tensorflow.switch_case keras.ops.cond keras.ops.switch "
    "keras.backend.switch tensorflow.compat.v1.cond".split()
)
_ADDING = frozenset({"append", "extend", "insert", "add", "appendleft"})

Part = ast.For | ast.While | ast.If


@dataclass(frozen=True, eq=False)
class Escape:
    """A tensor that is stored in a loop or branch of the graph and read outside it."""

    module: Module
    function: FunctionInfo
    """The function that contains the loop or branch."""
    part: ast.AST
    """The loop, the `if`, or the `tf.while_loop` or `tf.cond` call."""
    node: ast.expr | ast.stmt
    """The `append`, assignment or `add_loss` that stores the tensor."""
    value: ast.expr
    holder: str
    """The name of the list; `add_loss` for a loss."""
    read: ast.AST | None
    """Where the enclosing function reads it."""


def converted_loops(module: Module, function: FunctionInfo) -> Iterator[ast.For | ast.While]:
    """Return the loops that AutoGraph converts: over a tensor or dataset, or while a tensor is true."""
    if function.traced is None or not function.traced.autograph:
        return
    for node in own_nodes(function):
        loops = isinstance(node, ast.For) and _iterates_in_graph(module, node.iter)
        if loops or isinstance(node, ast.While) and is_one_tensor(module, node.test):
            assert isinstance(node, (ast.For, ast.While))
            yield node


def _iterates_in_graph(module: Module, iterated: ast.expr) -> bool:
    if is_one_tensor(module, iterated):
        return True
    if isinstance(iterated, ast.Call) and module.resolve(iterated.func) in ("range", "enumerate"):
        return any(is_one_tensor(module, argument) for argument in iterated.args)
    made = module.origin(iterated)
    return isinstance(made.node, ast.Call) and is_dataset(made.module, made.node)


def converted_branches(module: Module, function: FunctionInfo) -> Iterator[ast.If]:
    """Return the `if` statements that AutoGraph converts to `cond`."""
    if function.traced is None or not function.traced.autograph:
        return
    for node in own_nodes(function):
        if isinstance(node, ast.If) and is_one_tensor(module, node.test):
            yield node


def escapes_from(module: Module, parts: str) -> Iterator[Escape]:
    """Return the tensors that escape from the `loops` or `branches` of a file, in source order."""
    names = LOOP_FUNCTIONS if parts == "loops" else BRANCH_FUNCTIONS
    for function in traced_functions(module):
        found = (
            converted_loops(module, function) if parts == "loops" else converted_branches(module, function)
        )
        for part in found:
            yield from escapes_from_part(module, function, part)
        for node in own_nodes(function):
            if isinstance(node, ast.Call) and module.resolve(node.func) in names:
                yield from _from_call(module, function, node)


def escapes_from_part(
    module: Module, function: FunctionInfo, part: Part, *, failed: bool = False
) -> Iterator[Escape]:
    """Find lists created before the loop or branch, filled inside it and read after it.

    Args:
        module: the file.
        function: the function that the part is in.
        part: the loop or branch.
        failed: an exception shows that tensors escape there, whether or not the source shows what is a tensor.
    """
    own = {id(node) for node in ast.walk(part)}
    for node in ast.walk(part):
        stored = _stored(node)
        if stored is None:
            continue
        holder, value, name = stored
        if name == "add_loss":
            if holds_symbolic(module, value) and isinstance(part, ast.If):
                yield Escape(module, function, part, node, value, name, None)  # type: ignore[arg-type]
            continue
        if (
            holder is None
            or not _is_local_of(module, holder, function)
            or not (failed or _made_within(module, value, part))
        ):
            continue
        if not any(id(binding) not in own for binding in _bindings(module, holder)):
            continue
        read = next(
            (
                use
                for use in module.reads.get(holder.id, [])
                if id(use) not in own
                and use.lineno > (part.end_lineno or part.lineno)
                and module.index.lookup(use.id, module.scope(use)) is module.index.scopes[function.node]
                and not _only_counted(module, use)
            ),
            None,
        )
        if read is not None:
            yield Escape(module, function, part, node, value, holder.id, read)  # type: ignore[arg-type]


def _from_call(module: Module, function: FunctionInfo, call: ast.Call) -> Iterator[Escape]:
    """Find lists of the enclosing function that are filled by a function passed to `tf.cond` or `tf.while_loop`."""
    for argument in (*call.args, *(keyword.value for keyword in call.keywords)):
        for inner in functions_in(module, argument):
            if inner.module is not module:
                continue
            for node in own_nodes(inner):
                stored = _stored(node)
                if stored is None:
                    continue
                holder, value, name = stored
                if name == "add_loss":
                    yield Escape(module, function, call, node, value, name, None)  # type: ignore[arg-type]
                    continue
                if holder is None or isinstance(value, ast.Constant):
                    continue
                scope = module.index.lookup(holder.id, module.scope(holder))
                if (
                    scope is None
                    or scope.node is not function.node
                    or not _is_tensor_of(module, inner, value)
                ):
                    continue
                read = _read_outside(module, function, inner, holder.id)
                if read is not None:
                    yield Escape(module, function, call, node, value, holder.id, read)  # type: ignore[arg-type]


def _stored(node: ast.AST) -> tuple[ast.Name | None, ast.expr, str] | None:
    """Return container and value of `x.append(value)`, `x["a"].append(value)`, `x[key] = value`, `self.add_loss(value)`."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args:
        if node.func.attr == "add_loss":
            return None, node.args[0], "add_loss"
        holder = _outermost(node.func.value)
        if node.func.attr in _ADDING and holder is not None:
            return holder, node.args[-1], node.func.attr
    if isinstance(node, ast.Assign) and len(node.targets) == 1:
        target = node.targets[0]
        holder = _outermost(target) if isinstance(target, ast.Subscript) else None
        if holder is not None:
            return holder, node.value, "item"
    return None


def _outermost(container: ast.expr) -> ast.Name | None:
    """Return the name of the outermost container."""
    while isinstance(container, ast.Subscript):
        container = container.value
    return container if isinstance(container, ast.Name) else None


def _bindings(module: Module, name: ast.Name) -> list[ast.AST]:
    scope = module.index.lookup(name.id, module.scope(name))
    return scope.bindings.get(name.id, []) if scope is not None else []


def _is_local_of(module: Module, name: ast.Name, function: FunctionInfo) -> bool:
    scope = module.index.lookup(name.id, module.scope(name))
    if scope is None or scope.node is not function.node:
        return False
    # A later assignment such as `outputs = tf.stack(outputs)` rebinds the name.
    before = [node for node in scope.bindings[name.id] if getattr(node, "lineno", 0) <= name.lineno]
    values = [module.parent(node) for node in before]
    return bool(values) and all(
        isinstance(statement, (ast.Assign, ast.AnnAssign))
        and isinstance(statement.value, (ast.List, ast.Dict, ast.ListComp))
        for statement in values
    )


def _made_within(module: Module, value: ast.expr, part: Part) -> bool:
    """Return whether the tensor is created inside the loop or branch, not merely stored there."""
    if not holds_symbolic(module, value):
        return False
    if not isinstance(value, ast.Name):
        return True
    own = {id(node) for node in ast.walk(part)}
    bound = _bindings(module, value)
    return any(id(node) in own for node in bound)


def _is_tensor_of(module: Module, inner: FunctionInfo, value: ast.expr) -> bool:
    """Return whether a loop or branch function stores a tensor: one that it created or received."""
    if holds_symbolic(module, value):
        return True
    given = {parameter.arg for parameter in parameters_of(inner.node.args)}
    return any(isinstance(node, ast.Name) and node.id in given for node in ast.walk(value))


def _read_outside(module: Module, function: FunctionInfo, inner: FunctionInfo, name: str) -> ast.AST | None:
    within = {id(node) for node in ast.walk(inner.node)}
    for use in module.reads.get(name, []):
        if id(use) in within or _only_counted(module, use):
            continue
        around = module.function_of(use)
        if around is not None and around.node is function.node:
            return use
    return None


def _only_counted(module: Module, use: ast.Name) -> bool:
    parent = module.parent(use)
    if isinstance(parent, ast.Attribute):
        return parent.attr in (*_ADDING, "clear")
    return isinstance(parent, ast.Call) and module.resolve(parent.func) in ("len", "print")


# --- names that only some ways define -----------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Undefined:
    """A name that a loop or branch defines and that is read where it may be undefined."""

    module: Module
    function: FunctionInfo
    part: Part
    store: ast.Name
    use: ast.Name


def carried_but_undefined(module: Module, function: FunctionInfo) -> Iterator[Undefined]:
    """Find names undefined before a converted loop that it reads before assigning, or that are read after it."""
    for loop in converted_loops(module, function):
        for name, stores in _stored_names(loop).items():
            if name == getattr(getattr(loop, "target", None), "id", "") or _defined_before(
                module, function, loop, name
            ):
                continue
            first = min(stores, key=_position)
            statement = module.statement(first)
            for use in module.reads.get(name, []):
                inside = loop.lineno <= use.lineno <= (loop.end_lineno or loop.lineno)
                if (
                    not inside
                    or module.index.lookup(name, module.scope(use)) is not module.index.scopes[function.node]
                ):
                    continue
                if _position(use) < _position(first) or module.statement(use) is statement:
                    yield Undefined(module, function, loop, first, use)
                    break
            else:
                # AutoGraph invents an initial value for a loop over numbers or rows, but not over a dataset.
                after = (
                    first_read_after(module, function, loop, name) if _is_over_dataset(module, loop) else None
                )
                if after is not None:
                    yield Undefined(module, function, loop, first, after)


def _is_over_dataset(module: Module, loop: ast.For | ast.While) -> bool:
    if isinstance(loop, ast.While) or is_one_tensor(module, loop.iter):
        return False
    made = module.origin(loop.iter)
    return isinstance(made.node, ast.Call) and is_dataset(made.module, made.node)


def defined_in_one_branch(
    module: Module, function: FunctionInfo, branches: Iterable[ast.If] | None = None
) -> Iterator[Undefined]:
    """Find names that only one branch of a converted `if` defines and that are read after it.

    Args:
        module: the file.
        function: the converted function.
        branches: branches known to be converted, if the source does not show it.
    """
    for branch in converted_branches(module, function) if branches is None else branches:
        if any(leaves(statement) for statement in (*branch.body, *branch.orelse)):
            continue
        first = _names_in(branch.body)
        second = _names_in(branch.orelse)
        for name in sorted(set(first) ^ set(second)):
            if _defined_before(module, function, branch, name):
                continue
            use = first_read_after(module, function, branch, name)
            if use is not None:
                yield Undefined(
                    module, function, branch, (first.get(name) or second.get(name) or [use])[0], use
                )


def returns_in_one_branch(module: Module, function: FunctionInfo) -> Iterator[ast.If]:
    """Find converted `if` statements that return a value while the rest of the function returns none."""
    node = function.node
    if isinstance(node, ast.Lambda):
        return
    last = node.body[-1]
    for branch in converted_branches(module, function):
        returns = any(isinstance(item, ast.Return) and item.value is not None for item in branch.body)
        if returns and branch is last and not branch.orelse:
            yield branch


def leaves(statement: ast.stmt) -> bool:
    """Return whether a statement may leave the function or the current loop iteration."""
    return any(
        isinstance(node, (ast.Return, ast.Raise, ast.Break, ast.Continue)) for node in ast.walk(statement)
    )


def _names_in(statements: list[ast.stmt]) -> dict[str, list[ast.Name]]:
    """Return the names that a block certainly binds at its own level."""
    found: dict[str, list[ast.Name]] = {}
    for statement in statements:
        for name, stores in _stored_names(statement).items():
            found.setdefault(name, []).extend(stores)
    return found


def _stored_names(node: ast.AST) -> dict[str, list[ast.Name]]:
    found: dict[str, list[ast.Name]] = {}
    waiting = [node]
    while waiting:
        current = waiting.pop()
        if isinstance(current, ast.Name) and isinstance(current.ctx, ast.Store):
            found.setdefault(current.id, []).append(current)
        if current is not node and isinstance(
            current, (*FUNCTIONS, ast.ClassDef, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
        ):
            continue
        waiting.extend(ast.iter_child_nodes(current))
    return found


def _defined_before(module: Module, function: FunctionInfo, part: Part, name: str) -> bool:
    scope = module.index.scopes[function.node]
    if name in scope.outer or name not in scope.bindings:
        return True
    own = {id(node) for node in ast.walk(part)}
    for binding in scope.bindings[name]:
        if isinstance(binding, ast.arg) or id(binding) not in own and _position(binding) < _position(part):
            return True
    # An earlier iteration of an enclosing loop may have defined it.
    around = module.parent(part)
    while around is not None and around is not function.node:
        if isinstance(around, (ast.For, ast.While, ast.Try)):
            return True
        around = module.parent(around)
    return False


def first_read_after(module: Module, function: FunctionInfo, part: Part, name: str) -> ast.Name | None:
    """Return the first place after the loop or branch that reads the name."""
    end = part.end_lineno or part.lineno
    later = [
        binding
        for binding in module.index.scopes[function.node].bindings.get(name, [])
        if getattr(binding, "lineno", 0) > end
    ]
    for use in sorted(module.reads.get(name, []), key=_position):
        if (
            use.lineno <= end
            or module.index.lookup(name, module.scope(use)) is not module.index.scopes[function.node]
        ):
            continue
        if any(_position(binding) < _position(use) for binding in later):
            return None
        return use
    return None


def _position(node: ast.AST) -> tuple[int, int]:
    return getattr(node, "lineno", 0), getattr(node, "col_offset", 0)
