"""Python randomness, counters or prints in traced code.

## What happens

Nothing fails, but the result is wrong:

- `np.random.uniform()` in a `Dataset.map` function or in a layer's `call` yields one number for all samples and all
  steps.
- `self.step += 1` in `train_step` counts traces, not steps.
- `print(x)` prints once, and shows the name of a graph node instead of values.

## Why

The function runs as Python only while TensorFlow traces it. Whatever Python computes then becomes a constant in the
graph, and the graph is what runs for each batch.

## Fix

Draw random numbers with `tf.random` or `keras.random`, which become graph operations. Count in a weight or variable
with `assign_add`. Print with `tf.print`. Wrap code that must run as Python for each element in `tf.py_function`.

## Known limits

Not reported: a counter that traced code does not read (one that counts traces on purpose), randomness in `__init__`,
and code compiled with `run_eagerly=True`, which runs as Python at every step.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from fitdoctor.catalogue import Cause, mentions
from fitdoctor.diagnosis import Edit, Evidence, Finding, Fix, Severity
from fitdoctor.edits import fix, spell, unsafe
from fitdoctor.source.assignments import assignment_of
from fitdoctor.source.callees import is_self
from fitdoctor.source.module import ClassInfo, FunctionInfo, Module
from fitdoctor.source.traced.symbolic import (
    is_symbolic,
    name_of,
    own_nodes,
    traced_evidence,
    traced_functions,
)
from fitdoctor.source.traced.tensor_calls import MAKES_VARIABLE

CAUSE = Cause(
    id="FIT409",
    slug="python-effect-while-tracing",
    severity=Severity.WARNING,
    # A layer that the one draw left out gets no gradient.
    explains=("FIT506",),
)

_DRAWS = frozenset(
    "random randint uniform choice choices sample shuffle gauss normalvariate randrange triangular betavariate "
    "expovariate rand randn normal random_sample permutation binomial poisson beta standard_normal integers "
    "exponential gamma laplace multivariate_normal random_integers".split()
)
_GENERATORS = (
    "numpy.random.default_rng",
    "numpy.random.RandomState",
    "random.Random",
    "numpy.random.Generator",
)
_NOT_FOR_VALUES = frozenset({"seed", "name"})


@CAUSE.in_source
@mentions("def", "lambda")
def from_source(module: Module) -> Iterator[Finding]:
    """Report traced code that draws random numbers, counts or prints with Python."""
    for function in traced_functions(module):
        draws = [node for node in own_nodes(function) if isinstance(node, ast.Call) and _draws(module, node)]
        if draws:
            yield _drawn(module, function, draws)
        for node in own_nodes(function):
            counted = _counter(module, function, node)
            if counted is not None:
                yield counted
        yield from _printed(module, function)


# --- randomness ---------------------------------------------------------------------------------------------------


def _draws(module: Module, call: ast.Call) -> bool:
    name = module.resolve(call.func)
    last = name.rpartition(".")[2]
    if name.startswith(("random.", "numpy.random.")):
        drawn = last in _DRAWS
    elif not name and isinstance(call.func, ast.Attribute) and call.func.attr in _DRAWS:
        drawn = _is_generator(module, call.func.value)
    else:
        return False
    return drawn and not _is_for_something_else(module, call)


def _is_generator(module: Module, value: ast.expr) -> bool:
    made: ast.expr | None = module.made_by(value)
    if isinstance(value, ast.Attribute) and is_self(module, value.value):
        owner = module.class_of(value)
        stores = module.attribute_stores(owner.node).get(value.attr, []) if owner is not None else []
        statement = module.parent(stores[0]) if len(stores) == 1 else None
        made = statement.value if isinstance(statement, ast.Assign) else None
    return isinstance(made, ast.Call) and module.resolve(made.func) in _GENERATORS


def _is_for_something_else(module: Module, call: ast.Call) -> bool:
    """Return whether the random number is a seed, a name or the initial value of a variable."""
    child: ast.AST = call
    parent = module.parent(call)
    while parent is not None and not isinstance(parent, ast.stmt):
        if isinstance(parent, ast.keyword) and parent.arg in _NOT_FOR_VALUES:
            return True
        if isinstance(parent, ast.Call) and child is not parent.func:
            name = module.resolve(parent.func)
            if name in MAKES_VARIABLE or getattr(parent.func, "attr", "") == "add_weight":
                return True
        child, parent = parent, module.parent(parent)
    return False


def _drawn(module: Module, function: FunctionInfo, draws: list[ast.Call]) -> Finding:
    how = function.traced.how if function.traced is not None else ""
    every = "all elements" if how == "map" else "all steps"
    evidence = [traced_evidence(function)]
    for other in draws[1:4]:
        evidence.append(Evidence("also drawn only once", location=module.location(other)))
    return CAUSE.finding(
        f"`{module.segment(draws[0].func)}` draws only once, while {name_of(function)} is traced: {every} share one value",
        module.location(draws[0]),
        *evidence,
        *_random_fixes(module, function, draws),
        subject=f"randomness in {function.qualname}",
    )


def _random_fixes(module: Module, function: FunctionInfo, draws: list[ast.Call]) -> list[Fix]:
    title = "draw with `tf.random`, which draws each time the graph runs"
    converted = function.traced is not None and function.traced.autograph
    tf, imports = spell(module.code(draws[0]), "tensorflow", "tf")
    edits: list[Edit] = []
    for call in draws:
        text = _in_graph(module, call, tf)
        if text is not None and not converted and isinstance(module.statement(call), ast.If):
            chosen = chosen_by_draw(module, call, text, tf)
        elif text is not None and (converted or not _decides(module, call)):
            chosen = [Edit(module.location(call), text)]
        else:
            chosen = None
        if chosen is None:
            return [fix(title), fix("run the function as Python with `tf.py_function`")]
        edits += chosen
    return [unsafe(title, edits, imports)]


def _decides(module: Module, call: ast.Call) -> bool:
    """Return whether Python branches on the random number, directly or through its name."""
    statement = module.statement(call)
    if isinstance(statement, (ast.If, ast.While, ast.For)) or isinstance(
        module.parent(call), (ast.Compare, ast.IfExp)
    ):
        return True
    names = {
        node.id
        for node in ast.walk(statement)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }
    for name in names:
        for read in module.reads.get(name, []):
            parent = module.parent(read)
            if isinstance(parent, (ast.If, ast.IfExp, ast.Subscript, ast.While)) or (
                isinstance(parent, ast.Compare)
                and isinstance(module.parent(parent), (ast.If, ast.IfExp, ast.BoolOp))
            ):
                return True
    return False


def _in_graph(module: Module, call: ast.Call, tf: str) -> str | None:
    """Return the same draw as a graph operation, if its arguments are plain enough."""
    name = module.resolve(call.func).rpartition(".")[2] or getattr(call.func, "attr", "")
    given = {
        keyword.arg: module.segment(keyword.value) for keyword in call.keywords if keyword.arg is not None
    }
    if any(isinstance(argument, ast.Starred) for argument in call.args) or len(given) != len(call.keywords):
        return None
    if isinstance(module.parent(call), ast.Attribute):
        return None  # a method of the drawn array
    arguments = [module.segment(argument) for argument in call.args]
    shape = given.pop("size", "()")
    python = module.resolve(call.func).startswith("random.")
    if name in ("rand", "randn") and not python:
        kind = "uniform" if name == "rand" else "normal"
        sizes = f"({', '.join(arguments)},)" if arguments else "()"
        return f"{tf}.random.{kind}({sizes})"
    if name in ("random", "random_sample") and len(arguments) <= 1:
        return f"{tf}.random.uniform({arguments[0] if arguments else shape})"
    if name in ("uniform", "normal", "gauss", "normalvariate") and len(arguments) in (0, 2, 3):
        kind = "uniform" if name == "uniform" else "normal"
        if len(arguments) == 3:
            shape = arguments.pop()
        names = ("low", "high") if kind == "uniform" else ("loc", "scale")
        values = arguments or [given.pop(names[0], "0.0"), given.pop(names[1], "1.0")]
        return None if given else f"{tf}.random.{kind}({shape}, {values[0]}, {values[1]})"
    if name in ("randint", "integers", "randrange") and len(arguments) in (1, 2):
        low, high = arguments if len(arguments) == 2 else ("0", arguments[0])
        high = f"{high} + 1" if python and name == "randint" else high
        return None if given else f"{tf}.random.uniform({shape}, {low}, {high}, dtype={tf}.int32)"
    return None


# --- counters -----------------------------------------------------------------------------------------------------


def _counter(module: Module, function: FunctionInfo, node: ast.AST) -> Finding | None:
    """Report `self.step += 1`, or a global counter, if traced code reads the number."""
    if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
        return _global_counter(module, function, node)
    target = _counted(module, node)
    if target is None or "trac" in target.attr.lower():
        return None
    owner = module.class_of(target)
    if owner is None or not owner.kind or not _starts_as_number(module, owner, target.attr):
        # A plain class may count traces on purpose: seeds, names.
        return None
    reads = [
        read
        for read in module.nodes(ast.Attribute)
        if read.attr == target.attr
        and isinstance(read.ctx, ast.Load)
        and is_self(module, read.value)
        and module.class_of(read) == owner
        and module.statement(read) is not node
        and _is_traced(module, read)
        and not _is_in_a_name(module, read)
    ]
    if not reads or _is_reset_in_trace(module, owner, target.attr, node):
        return None
    return _counts_traces(
        function,
        node,
        f"self.{target.attr}",
        f"{owner.name}.{target.attr}",
        reads[0],
        _as_weight(module, owner, node, target, reads),
    )


def _global_counter(module: Module, function: FunctionInfo, node: ast.AugAssign) -> Finding | None:
    """Report `global step; step += 1` if traced code computes with the number."""
    name = node.target.id if isinstance(node.target, ast.Name) else ""
    shared = any(
        isinstance(other, (ast.Global, ast.Nonlocal)) and name in other.names for other in own_nodes(function)
    )
    if not shared or not isinstance(node.value, ast.Constant) or "trac" in name.lower():
        return None
    reads = [
        read
        for read in module.reads.get(name, ())
        if _is_traced(module, read)
        and module.statement(read) is not node
        and not isinstance(module.statement(read), ast.Expr)
    ]
    again = [
        other
        for other in own_nodes(function)
        if isinstance(other, ast.Assign)
        and any(isinstance(target, ast.Name) and target.id == name for target in other.targets)
    ]
    if not reads or again:
        return None
    return _counts_traces(function, node, name, name, reads[0], _as_variable(module, node, name, reads))


def _as_variable(module: Module, node: ast.AugAssign, name: str, reads: Sequence[ast.expr]) -> Fix:
    """Replace a module-level number with a variable, if only this function changes it."""
    title = f"count in a variable: create `{name} = tf.Variable(0.0)` and call `{name}.assign_add(1.0)` here"
    tf, imports = spell(module.code(node), "tensorflow", "tf")
    stores = [
        store for store in module.nodes(ast.Name) if store.id == name and isinstance(store.ctx, ast.Store)
    ]
    start = next((module.parent(store) for store in stores if module.function_of(store) is None), None)
    uses = _tensor_uses(module, reads, tf)
    if len(stores) != 2 or not isinstance(start, ast.Assign) or uses is None:
        return fix(title)
    value = start.value.value if isinstance(start.value, ast.Constant) else None
    if not isinstance(value, (int, float)):
        return fix(title)
    first = Edit(module.location(start.value), f"{tf}.Variable({float(value)}, trainable=False)")
    return fix(title, (first, *uses, _counting(module, node, name)), imports)


def _counting(module: Module, node: ast.AugAssign, spelled: str) -> Edit:
    change = "assign_add" if isinstance(node.op, ast.Add) else "assign_sub"
    return Edit(module.location(node), f"{spelled}.{change}({float(_number(node.value))})")


def _tensor_uses(module: Module, reads: Sequence[ast.expr], tf: str) -> list[Edit] | None:
    """Replace `min` and `max` with their tensor equivalents; None if something else needs a Python number."""
    edits = []
    for read in reads:
        around = _python_use(module, read)
        if around is None:
            continue
        name = {"min": "minimum", "max": "maximum"}.get(
            module.resolve(around.func) if isinstance(around, ast.Call) else ""
        )
        if name is None or not isinstance(around, ast.Call) or len(around.args) != 2:
            return None
        edits.append(Edit(module.location(around.func), f"{tf}.{name}"))
    return edits


def _counts_traces(
    function: FunctionInfo, node: ast.AST, spelled: str, subject: str, read: ast.expr, remedy: Fix
) -> Finding:
    module = function.module
    return CAUSE.finding(
        f"`{spelled}` counts the traces of {name_of(function)}, not its calls: the graph contains one fixed value",
        module.location(node),
        traced_evidence(function),
        Evidence(
            "the value becomes a constant here, when the graph is traced", location=module.location(read)
        ),
        remedy,
        subject=f"counter {subject}",
    )


def _counted(module: Module, node: ast.AST) -> ast.Attribute | None:
    if (
        isinstance(node, ast.AugAssign)
        and isinstance(node.target, ast.Attribute)
        and isinstance(node.op, (ast.Add, ast.Sub))
    ):
        if isinstance(node.value, ast.Constant) and is_self(module, node.target.value):
            return node.target
    if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Attribute):
        target, value = node.targets[0], node.value
        if (
            isinstance(value, ast.BinOp)
            and isinstance(value.op, (ast.Add, ast.Sub))
            and isinstance(value.right, ast.Constant)
            and isinstance(value.left, ast.Attribute)
            and value.left.attr == target.attr
            and is_self(module, target.value)
            and is_self(module, value.left.value)
        ):
            return target
    return None


def _is_in_a_name(module: Module, read: ast.AST) -> bool:
    """Return whether a number only becomes part of a string that is not printed, such as an operation name."""
    text = False
    parent = module.parent(read)
    while parent is not None and not isinstance(parent, ast.stmt):
        if isinstance(parent, ast.FormattedValue):
            text = True
        elif isinstance(parent, ast.Call):
            name = module.resolve(parent.func)
            formats = isinstance(parent.func, ast.Attribute) and parent.func.attr == "format"
            text = text or formats or name == "str"
            if not formats and name in ("print", "tensorflow.print"):
                return False
        parent = module.parent(parent)
    return text and not isinstance(parent, ast.Expr)


def _starts_as_number(module: Module, owner: ClassInfo, attribute: str) -> bool:
    for store in module.attribute_stores(owner.node).get(attribute, []):
        function, assigned = module.function_of(store), assignment_of(module, store)
        if function is not None and function.name == "__init__" and assigned.how == "=":
            value = assigned.value
            return not assigned.path and isinstance(value, ast.Constant) and type(value.value) in (int, float)
    return False


def _is_traced(module: Module, node: ast.AST) -> bool:
    function = module.function_of(node)
    return function is not None and function.traced is not None and not function.traced.eager


def _is_reset_in_trace(module: Module, owner: ClassInfo, attribute: str, node: ast.AST) -> bool:
    """Return whether traced code also resets it, so that it counts within a trace, like an index."""
    return any(
        _is_traced(module, store)
        and module.statement(store) is not node
        and isinstance(module.parent(store), ast.Assign)
        for store in module.attribute_stores(owner.node).get(attribute, [])
    )


def _as_weight(
    module: Module, owner: ClassInfo, node: ast.AST, target: ast.Attribute, reads: list[ast.Attribute]
) -> Fix:
    title = f"count in a weight: `self.{target.attr}.assign_add(1.0)`"
    start = next(
        (
            module.parent(store)
            for store in module.attribute_stores(owner.node).get(target.attr, [])
            if getattr(module.function_of(store), "name", "") == "__init__"
        ),
        None,
    )
    if (
        owner.kind not in ("Layer", "Model")
        or not isinstance(start, ast.Assign)
        or not isinstance(node, ast.AugAssign)
    ):
        return fix(title)
    if not isinstance(start.value, ast.Constant) or start.value.value != 0:
        return fix(title)
    first = Edit(
        module.location(start.value),
        f'self.add_weight(shape=(), initializer="zeros", trainable=False, name="{target.attr}")',
    )
    tf, imports = spell(module.code(node), "tensorflow", "tf")
    uses = _tensor_uses(module, reads, tf)
    if uses is None:
        return fix(title)
    edits = dict.fromkeys((first, *uses, _counting(module, node, f"self.{target.attr}")))
    return fix(title, tuple(edits), imports)


def _number(value: ast.expr) -> float:
    return (
        float(value.value)
        if isinstance(value, ast.Constant) and isinstance(value.value, (int, float))
        else 1.0
    )


def _python_use(module: Module, read: ast.AST) -> ast.AST | None:
    """Return what needs a Python number around a read (a branch, an index, `min`, `range`), or None if a tensor works."""
    parent = module.parent(read)
    while parent is not None and not isinstance(parent, ast.stmt):
        if isinstance(parent, (ast.Subscript, ast.IfExp, ast.BoolOp, ast.FormattedValue)):
            return parent
        if isinstance(parent, ast.Call) and module.resolve(parent.func) in (
            "min",
            "max",
            "range",
            "int",
            "float",
            "round",
        ):
            return parent
        parent = module.parent(parent)
    return parent if isinstance(parent, (ast.If, ast.While, ast.For, ast.Assert)) else None


# --- prints -------------------------------------------------------------------------------------------------------


def _printed(module: Module, function: FunctionInfo) -> Iterator[Finding]:
    """Report a `print` of a tensor, at level info because it is usually a debugging aid."""
    for node in own_nodes(function):
        if not isinstance(node, ast.Call) or module.resolve(node.func) != "print":
            continue
        if any(is_symbolic(module, argument) for argument in node.args):
            tf, imports = spell(module.code(node), "tensorflow", "tf")
            edits = () if node.keywords else (Edit(module.location(node.func), f"{tf}.print"), *imports)
            yield CAUSE.finding(
                f"`print` runs only once, while {name_of(function)} is traced, and shows no values",
                module.location(node),
                traced_evidence(function),
                unsafe("print with `tf.print`", edits),
                subject=f"print in {function.qualname}",
                severity=Severity.INFO,
            )
            return


# edits that let the graph branch on a random number, where a Python `if` was decided once during tracing.


def chosen_by_draw(module: Module, call: ast.Call, drawn: str, tf: str) -> list[Edit] | None:
    """Rewrite `if training and random() < p: return x` with `tf.where`; other conditions stay Python branches.

    Args:
        module: the file.
        call: the random call in the test of an `if`.
        drawn: the same draw as a graph operation.
        tf: the file's name for TensorFlow.

    Returns:
        The edits, or None if the branch does more than select one of two values.
    """
    branch = module.statement(call)
    if not isinstance(branch, ast.If) or len(branch.body) != 1 or branch.orelse:
        return None
    all_of = isinstance(branch.test, ast.BoolOp) and isinstance(branch.test.op, ast.And)
    parts = branch.test.values if isinstance(branch.test, ast.BoolOp) and all_of else [branch.test]
    asked = [part for part in parts if any(node is call for node in ast.walk(part))]
    if len(asked) != 1 or not isinstance(asked[0], ast.Compare):
        return None
    condition = _with(module, asked[0], call, drawn)
    rest = " and ".join(module.segment(part) for part in parts if part is not asked[0])
    first, following = branch.body[0], _following(module, branch)
    if isinstance(first, ast.Return) and isinstance(following, ast.Return):
        if first.value is None or following.value is None:
            return None
        text = f"{tf}.where({condition}, {module.segment(first.value)}, {module.segment(following.value)})"
        if rest:
            return [Edit(module.location(branch.test), rest), Edit(module.location(first.value), text)]
        gone = Edit(module.location(following).lines, "")
        return [Edit(module.location(branch), f"return {text}"), gone]
    target = first.targets[0] if isinstance(first, ast.Assign) and len(first.targets) == 1 else None
    if not isinstance(target, ast.Name) or not isinstance(first, ast.Assign):
        return None
    text = f"{tf}.where({condition}, {module.segment(first.value)}, {target.id})"
    if rest:
        return [Edit(module.location(branch.test), rest), Edit(module.location(first.value), text)]
    return [Edit(module.location(branch), f"{target.id} = {text}")]


def _with(module: Module, whole: ast.expr, part: ast.expr, text: str) -> str:
    start = module.places.span(whole)[0]
    first, last = module.places.span(part)
    said = module.segment(whole)
    return said[: first - start] + text + said[last - start :]


def _following(module: Module, node: ast.stmt) -> ast.stmt | None:
    body = getattr(module.parent(node), "body", [])
    at = body.index(node) + 1 if node in body else len(body)
    return body[at] if at < len(body) else None
