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
from fitdoctor.catalogue.graph.where_edits import selected
from fitdoctor.diagnosis import Edit, Evidence, Finding, Fix, Severity
from fitdoctor.edits import fix, spell, unsafe
from fitdoctor.source.assignments import assignment_of
from fitdoctor.source.index import FUNCTIONS
from fitdoctor.source.module import FunctionInfo, Module
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


@CAUSE.in_source
@mentions("def", "lambda")
def from_source(module: Module) -> Iterator[Finding]:
    """Report traced code that draws random numbers, counts or prints with Python."""
    for function in traced_functions(module):
        draws = [node for node in own_nodes(function) if isinstance(node, ast.Call) and _draws(module, node)]
        if draws:
            yield _drawn(module, function, draws)
        for node in own_nodes(function):
            counted = _counter(function, node)
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
    return module.called(module.origin(value).node) in _GENERATORS


def _is_for_something_else(module: Module, call: ast.Call) -> bool:
    """Return whether the random number is a seed, a name or the initial value of a variable."""
    return any(
        isinstance(around, ast.keyword)
        and around.arg in ("seed", "name")
        or module.called(around) in MAKES_VARIABLE
        or isinstance(around, ast.Call)
        and getattr(around.func, "attr", "") == "add_weight"
        for around in module.parents(call)
    )


def _drawn(module: Module, function: FunctionInfo, draws: list[ast.Call]) -> Finding:
    every = "all elements" if function.how == "map" else "all steps"
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
        if text is None or not converted and _decides(module, call):
            edits = [*_where(module, call, text, tf)] if text is not None and len(draws) == 1 else []
            break
        edits.append(Edit(module.location(_cast(module, call) or call), text))
    if not edits:
        return [fix(title), fix("run the function as Python with `tf.py_function`")]
    return [unsafe(title, edits, imports)]


def _where(module: Module, call: ast.Call, drawn: str, tf: str) -> tuple[Edit, ...]:
    """Rewrite `if training and random() < p: return x` with `tf.where`; other conditions stay Python branches."""
    branch = module.statement(call)
    if not isinstance(branch, ast.If):
        return ()
    all_of = isinstance(branch.test, ast.BoolOp) and isinstance(branch.test.op, ast.And)
    parts = branch.test.values if isinstance(branch.test, ast.BoolOp) and all_of else [branch.test]
    asked = [part for part in parts if call in ast.walk(part)]
    still = " and ".join(module.segment(part) for part in parts if part not in asked)
    return selected(module, branch, module.rewritten(asked[0], (call, drawn)), tf, still) if asked else ()


def _decides(module: Module, call: ast.Call) -> bool:
    """Return whether Python branches on the random number, directly or through its name."""
    statement = module.statement(call)
    names = [name.id for name in getattr(statement, "targets", []) if isinstance(name, ast.Name)]
    end = statement.end_lineno or 0
    reads = [read for name in names for read in module.reads.get(name, []) if read.lineno > end]
    return any(_is_decided_by(module, each) for each in (call, *reads))


def _is_decided_by(module: Module, node: ast.AST) -> bool:
    """Whether a condition, a loop, a comparison or an index reads a value; in the body of an `if` it does not."""
    part, around = node, module.parent(node)
    while around is not None and not isinstance(around, FUNCTIONS):
        if isinstance(around, (ast.Compare, ast.Subscript)):
            return True
        if part in (getattr(around, "test", None), getattr(around, "iter", None)):
            return True
        part, around = around, module.parent(around)
    return False


def _cast(module: Module, call: ast.Call) -> ast.Call | None:
    """Return `draw.astype("float32")`: in the graph, numbers are drawn like that."""
    method = module.parent(call)
    whole = module.parent(method) if isinstance(method, ast.Attribute) and method.attr == "astype" else None
    if not isinstance(whole, ast.Call) or len(whole.args) != 1:
        return None
    return whole if module.segment(whole.args[0]).strip("\"'").endswith("float32") else None


def _in_graph(module: Module, call: ast.Call, tf: str) -> str | None:
    """Return the same draw as a graph operation, if its arguments are plain enough."""
    name = module.resolve(call.func).rpartition(".")[2] or getattr(call.func, "attr", "")
    given = {
        keyword.arg: module.segment(keyword.value) for keyword in call.keywords if keyword.arg is not None
    }
    if any(isinstance(argument, ast.Starred) for argument in call.args) or len(given) != len(call.keywords):
        return None
    if isinstance(module.parent(call), ast.Attribute) and _cast(module, call) is None:
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


def _counter(function: FunctionInfo, node: ast.AST) -> Finding | None:
    """Report `self.step += 1`, or a global counter, if traced code reads the number."""
    module = function.module
    match node:
        case ast.AugAssign(target=target, op=ast.Add() | ast.Sub(), value=ast.Constant()):
            pass
        case ast.Assign(
            targets=[target], value=ast.BinOp(left=left, op=ast.Add() | ast.Sub(), right=ast.Constant())
        ):
            if module.segment(left) != module.segment(target):
                return None
        case _:
            return None
    spelled, owner = module.segment(target), module.class_of(target)
    attribute = module.own_attribute(target)
    shared = getattr(target, "id", "") in module.index.scopes[function.node].outer
    if "trac" in spelled.lower() or not attribute and not shared:
        return None
    # A plain class may count traces on purpose: seeds, names.
    if attribute and (owner is None or not owner.kind):
        return None
    stores: list[ast.AST]
    if attribute and owner is not None:
        stores = module.attribute_stores(owner.node).get(attribute, [])
        reads: list[ast.expr] = [
            read
            for read in module.attributes.get(attribute, [])
            if isinstance(read.ctx, ast.Load)
            and module.own_attribute(read)
            and module.class_of(read) == owner
        ]
    else:
        stores = [
            each for each in module.nodes(ast.Name) if each.id == spelled and isinstance(each.ctx, ast.Store)
        ]
        reads = list(module.reads.get(spelled, []))
    reads = [
        read
        for read in reads
        if module.runs_traced(read) and module.statement(read) is not node and not _is_in_a_name(module, read)
    ]
    starts = [each for each in stores if not module.runs_traced(each)]
    start = assignment_of(module, starts[0]).value if starts else None
    number = start.value if isinstance(start, ast.Constant) and type(start.value) in (int, float) else None
    # Traced code that also resets it counts within a trace, like an index.
    reset = any(module.runs_traced(each) and module.statement(each) is not node for each in stores)
    if not reads or reset or number is None:
        return None
    alone = len(starts) == 1 and isinstance(node, ast.AugAssign)
    return CAUSE.finding(
        f"`{spelled}` counts the traces of {name_of(function)}, not its calls: the graph contains one fixed value",
        module.location(node),
        traced_evidence(function),
        Evidence(
            "the value becomes a constant here, when the graph is traced", location=module.location(reads[0])
        ),
        _as_variable(module, node, spelled, start, reads) if alone else fix(_COUNT.format(spelled)),
        subject=f"counter {owner.name}.{attribute}"
        if attribute and owner is not None
        else f"counter {spelled}",
    )


_COUNT = "count in a variable: create `{0} = tf.Variable(0.0, trainable=False)` and call `{0}.assign_add(1.0)` here"


def _as_variable(
    module: Module, node: ast.AST, spelled: str, start: ast.expr | None, reads: Sequence[ast.expr]
) -> Fix:
    """Replace a number that only this function changes with a variable."""
    tf, imports = spell(module.code(node), "tensorflow", "tf")
    uses = _tensor_uses(module, reads, tf)
    if not isinstance(node, ast.AugAssign) or not isinstance(start, ast.Constant) or uses is None:
        return fix(_COUNT.format(spelled))
    change = "assign_add" if isinstance(node.op, ast.Add) else "assign_sub"
    step = node.value.value if isinstance(node.value, ast.Constant) else 1
    edits = (
        Edit(module.location(start), f"{tf}.Variable({float(start.value)}, trainable=False)"),  # type: ignore[arg-type]
        Edit(module.location(node), f"{spelled}.{change}({float(step)})"),  # type: ignore[arg-type]
    )
    return fix(_COUNT.format(spelled), dict.fromkeys((*edits, *uses)), imports)


def _tensor_uses(module: Module, reads: Sequence[ast.expr], tf: str) -> list[Edit] | None:
    """Replace `min` and `max` with their tensor equivalents; None if something else needs a Python number."""
    edits = []
    for read in reads:
        around = _python_use(module, read)
        name = {"min": "minimum", "max": "maximum"}.get(module.called(around))
        if around is not None and (name is None or not isinstance(around, ast.Call) or len(around.args) != 2):
            return None
        if isinstance(around, ast.Call):
            edits.append(Edit(module.location(around.func), f"{tf}.{name}"))
    return edits


def _is_in_a_name(module: Module, read: ast.AST) -> bool:
    """Return whether a number only becomes part of a string that is not printed, such as an operation name."""
    around = [each for each in module.parents(read) if not isinstance(each, ast.stmt)]
    if any(module.called(each) in ("print", "tensorflow.print") for each in around):
        return False
    text = any(
        isinstance(each, ast.FormattedValue)
        or module.called(each) == "str"
        or isinstance(each, ast.Call)
        and getattr(each.func, "attr", "") == "format"
        for each in around
    )
    return text or isinstance(module.statement(read), ast.Expr) and not around


def _python_use(module: Module, read: ast.AST) -> ast.AST | None:
    """Return what needs a Python number around a read (a branch, an index, `min`, `range`), or None if a tensor works."""
    needing = ("min", "max", "range", "int", "float", "round")
    branching = (ast.If, ast.While, ast.For, ast.Assert)
    for around in module.parents(read):
        if isinstance(around, (ast.Subscript, ast.IfExp, ast.BoolOp, ast.FormattedValue)):
            return around
        if module.called(around) in needing or isinstance(around, branching):
            return around
        if isinstance(around, ast.stmt):
            break
    return None


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
