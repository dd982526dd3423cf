"""Python branch on a symbolic tensor.

## What happens

`if`, `while`, `assert`, `and`, `or`, `not` or a chained comparison on a tensor raises
`OperatorNotAllowedInGraphError: Using a symbolic tf.Tensor as a Python bool is not allowed`. A `for` loop over a
tensor raises `Iterating over a symbolic tf.Tensor is not allowed`. Python's `max`, `min`, `any`, `all`, `sum` and
`bool` raise the same errors.

## Why

Python has to decide immediately which branch to take, but a symbolic tensor has no value yet. AutoGraph rewrites
`if`, `while` and `for` in a `tf.function` and in functions passed to `Dataset.map`. In Keras 3, AutoGraph does not
rewrite layers, losses, metrics or `train_step`: they run as plain Python.

## Fix

Select values with `tf.where(condition, a, b)`, or run one of two functions with `tf.cond`. Check conditions with
`tf.debugging.Assert` and combine them with `tf.logical_and`. You can also decorate a loss function with
`@tf.function`, so that AutoGraph rewrites it.

## Known limits

Branches on Python values (`training`, `mask is None`, `x.shape[1]`) work and are not reported. `tf.where` evaluates
both sides: a NaN on the side that is not selected still reaches the gradient.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fitdoctor.catalogue import Cause
from fitdoctor.catalogue.graph.graph_parts import stored_names
from fitdoctor.catalogue.graph.where_edits import selected
from fitdoctor.diagnosis import Confidence, Edit, Evidence, Finding, Fix, Severity
from fitdoctor.edits import append_arguments, fix, insert_before, spell
from fitdoctor.facts import Frame
from fitdoctor.failure.failed_line import at_frame, function_at
from fitdoctor.records import dataclass
from fitdoctor.source.callees import callee
from fitdoctor.source.definitions import argument_of
from fitdoctor.source.line_edits import indent_of
from fitdoctor.source.module import FunctionInfo, Module
from fitdoctor.source.traced.decided_branches import holds_wherever_traced, rests_on_a_flag
from fitdoctor.source.traced.symbolic import (
    is_one_tensor,
    is_symbolic,
    is_variable,
    name_of,
    own_nodes,
    traced_evidence,
    traced_functions,
)

CAUSE = Cause(
    id="FIT408",
    slug="python-branch-on-tensor",
    severity=Severity.ERROR,
    raises=("OperatorNotAllowedInGraphError", "TypeError"),
)

_BOOL = "as a Python `?bool`? is not allowed"
_ITERATE = (
    "Iterating over a symbolic|iterating over `tf.Tensor` is not allowed|argument of type 'SymbolicTensor' is not iterable"
    "|Tensor objects are only iterable when eager execution is enabled"
)
_COMPARING = frozenset({"max", "min", "sorted"})
_ITERATING = frozenset({"any", "all", "sum", "list", "tuple", "set", "max", "min", "zip", "enumerate", "map"})


@dataclass(frozen=True, eq=False)
class _Branch:
    """A place that needs the truth value or the elements of a tensor."""

    node: ast.AST
    what: str
    tensor: ast.expr


@CAUSE.rule("def", "lambda", says=f"{_BOOL}|{_ITERATE}")
def branches_on_tensors(module: Module, frame: Frame | None) -> Iterator[Finding]:
    """Find branches on a tensor in traced code that AutoGraph does not convert."""
    if frame is not None:
        yield from _at_frame(module, frame)
        return
    for function in traced_functions(module):
        seen: set[ast.stmt] = set()
        for branch in _branches(module, function):
            statement = module.statement(branch.node)
            if statement not in seen and not rests_on_a_flag(function, branch.node):
                seen.add(statement)
                yield _finding(module, function, branch)


def _at_frame(module: Module, frame: Frame) -> Iterator[Finding]:
    function = function_at(module, frame.line, frame.cell)
    for branch in _branches(module, function) if function is not None else ():
        assert function is not None
        if at_frame(module, module.statement(branch.tensor), frame):
            yield _finding(module, function, branch)
    yield from _without_state(module, frame)


_ON_TENSOR = "branch on a symbolic tensor"
CAUSE.message(
    _ITERATE,
    "Python iterates over a symbolic tensor",
    "use `tf.unstack`, `tf.map_fn` or a Python `range` over the static shape",
    subject=_ON_TENSOR,
    confidence=Confidence.CERTAIN,
)
CAUSE.message(
    _BOOL,
    "Python branches on a symbolic tensor",
    "select values with `tf.where`, or run one of two functions with `tf.cond`",
    subject=_ON_TENSOR,
    confidence=Confidence.CERTAIN,
)


def _branches(module: Module, function: FunctionInfo) -> Iterator[_Branch]:
    converted = function.traced is not None and function.traced.autograph
    for node in own_nodes(function):
        yield from _never_converted(module, node, converted)
        if not converted:
            yield from _converted_elsewhere(module, node)


def _never_converted(module: Module, node: ast.AST, converted: bool) -> Iterator[_Branch]:
    """Find branches that fail in every traced function, because AutoGraph does not convert them either."""
    match node:
        case ast.Assert(test=test):
            yield from _asked(module, node, "assert", test)
        case ast.Call(args=arguments):
            name = module.called(node)
            if name == "bool" or name in _COMPARING and len(arguments) > 1:
                for argument in arguments:
                    yield from _asked(module, node, f"{name}()", argument)
            elif name in _ITERATING and not (converted and name in ("zip", "enumerate", "map")):
                tensors = [each for each in arguments if is_one_tensor(module, each)]
                if tensors and (len(arguments) == 1 or name == "zip"):
                    yield _Branch(node, f"{name}()", tensors[0])
        case ast.Compare(
            left=left, ops=[ast.In() | ast.NotIn(), *_], comparators=[ast.List() | ast.Tuple(), *_]
        ):
            if is_one_tensor(module, left):  # `in` compares with each element and needs the truth value
                yield _Branch(node, "in", left)
        case ast.comprehension(iter=iterated, ifs=conditions):
            for condition in conditions if not converted else ():
                yield from _asked(module, node.target, "if", condition)
            if is_one_tensor(module, iterated):
                yield _Branch(iterated, "for", iterated)


def _converted_elsewhere(module: Module, node: ast.AST) -> Iterator[_Branch]:
    """Find branches that AutoGraph would convert."""
    match node:
        case ast.If(test=test) | ast.IfExp(test=test):
            yield from _asked(module, node, "if", test)
        case ast.While(test=test):
            yield from _asked(module, node, "while", test)
        case ast.For(iter=iterated):
            bounds = (
                iterated.args if isinstance(iterated, ast.Call) and module.called(iterated) == "range" else []
            )
            if any(is_one_tensor(module, each) for each in (iterated, *bounds)):
                yield _Branch(node, "for", iterated)
        case ast.BoolOp(op=op, values=[*operands, _]):
            for operand in operands:
                yield from _asked(module, node, "and" if isinstance(op, ast.And) else "or", operand)
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            yield from _asked(module, node, "not", operand)
        case ast.Compare(left=left, ops=[_, _, *_], comparators=others):
            # `a < b < c` is `a < b and b < c`.
            if any(is_one_tensor(module, operand) for operand in (left, *others[:2])):
                yield _Branch(node, "a chained comparison", node)


def _asked(module: Module, node: ast.AST, what: str, test: ast.expr) -> Iterator[_Branch]:
    """Return the tensor operands of a test whose truth value is needed."""
    if isinstance(test, ast.BoolOp):
        for operand in test.values:
            yield from _asked(module, node, what, operand)
            if _decides(module, test, operand):
                return
    elif isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        yield from _asked(module, node, what, test.operand)
    elif is_one_tensor(module, test) or is_variable(module, test):
        yield _Branch(node, what, test)


def _decides(module: Module, test: ast.BoolOp, operand: ast.expr) -> bool:
    """Whether Python never comes to the rest: `minimum is not None and …` where every call leaves it None."""
    function = module.function_of(test)
    held = holds_wherever_traced(function, operand) if function is not None else None
    return held is isinstance(test.op, ast.Or)


def _finding(module: Module, function: FunctionInfo, branch: _Branch) -> Finding:
    text = module.segment(branch.tensor)
    text = text if len(text) <= 50 else text[:49] + "…"
    loops = branch.what == "for"
    who = branch.what if " " in branch.what else f"`{branch.what}`"
    message = f"{who} needs the {'elements' if loops else 'truth value'} of `{text}`"
    message += f", which is symbolic in {name_of(function)}"
    why: list[Evidence] = []
    if function.traced is not None and not function.traced.autograph and function.how != "tf.function":
        why = [Evidence("AutoGraph does not rewrite code that Keras 3 calls, so Python runs it as written")]
    return CAUSE.finding(
        message,
        module.location(branch.node),
        traced_evidence(function),
        *why,
        *_fixes(module, function, branch),
        subject=f"{branch.what} in {function.qualname}",
    )


# --- fixes --------------------------------------------------------------------------------------------------------


def _fixes(module: Module, function: FunctionInfo, branch: _Branch) -> list[Fix]:
    node, called = branch.node, module.called(branch.node)
    spelling, imports = _spelt(module, node)
    remedies: list[Fix] = []
    if (
        isinstance(node, (ast.If, ast.IfExp))
        and node.test is branch.tensor
        and _may_be_none(module, node.test)
    ):
        # `if self.bias:` asks whether there is one, and its elements have no say in that.
        text = module.segment(node.test)
        asked = Edit(module.location(node.test), f"{text} is not None")
        return [fix(f"ask whether there is one: `{text} is not None`", (asked,))]
    if isinstance(node, (ast.If, ast.IfExp)):
        edits = selected(module, node, _condition(module, node.test, spelling), spelling)
        remedies += [fix(f"select with `{spelling}.where`", edits, imports)] if edits else []
    elif isinstance(node, ast.Assert):
        remedies.append(_asserted(module, node))
    elif (
        called in _TWINS
        and isinstance(node, ast.Call)
        and len(node.args) == (2 if called in _COMPARING else 1)
    ):
        name = (
            _TWINS[called]
            if spelling.endswith(("tf", "tensorflow"))
            else _TWINS[called].removeprefix("reduce_")
        )
        edits = (Edit(module.location(node.func), f"{spelling}.{name}"), *imports)
        remedies.append(fix(f"call `{spelling}.{name}`", edits))
    decorated = _decorated(module, function)
    if decorated is not None and isinstance(node, _CONVERTIBLE):
        remedies.append(decorated)
    if isinstance(node, ast.If) and not imports:
        apart = _run_apart(module, function, node, _condition(module, node.test, spelling), spelling)
        remedies += [apart] if apart is not None else []
    return [*remedies, fix(_ADVICE.get(branch.what, _ADVICE["if"]))]


def _may_be_none(module: Module, tested: ast.expr) -> bool:
    """Whether the class also assigns None to an attribute that is tested."""
    owner = module.class_of(tested) if isinstance(tested, ast.Attribute) else None
    stores = owner.module.attribute_stores(owner.node).get(tested.attr, []) if owner is not None else []  # type: ignore[attr-defined]
    values = [getattr(module.parent(store), "value", None) for store in stores]
    return any(isinstance(value, ast.Constant) and value.value is None for value in values)


_TWINS = {"max": "maximum", "min": "minimum", "sum": "reduce_sum", "any": "reduce_any", "all": "reduce_all"}
_CONVERTIBLE = (ast.If, ast.While, ast.For, ast.IfExp, ast.BoolOp, ast.UnaryOp)
_ADVICE = {
    "for": "loop over a Python `range` of the static shape, or use `tf.map_fn` or `tf.scan`",
    "while": "use `tf.while_loop`, or a Python loop with a fixed number of iterations",
    "if": "select values with `tf.where`, or run one of two functions with `tf.cond`",
}


def _spelt(module: Module, node: ast.AST) -> tuple[str, tuple[Edit, ...]]:
    """Return how the file names TensorFlow; `keras.ops` if it does not import it, unless Keras 2 has no `ops`."""
    known = dict(module.spellings)
    if "tensorflow" in known or module.keras == 2:
        return spell(module.code(node), "tensorflow", "tf")
    return known.get("keras.ops", "keras.ops"), ()


def _condition(module: Module, test: ast.expr, spelling: str) -> str:
    """Return a condition as a tensor expression, with functions for `and`, `or` and `not`."""
    if isinstance(test, ast.BoolOp):
        name = "logical_and" if isinstance(test.op, ast.And) else "logical_or"
        text, *parts = [_condition(module, part, spelling) for part in test.values]
        for part in parts:
            text = f"{spelling}.{name}({text}, {part})"
        return text
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return f"{spelling}.logical_not({_condition(module, test.operand, spelling)})"
    return module.segment(test)


def _asserted(module: Module, node: ast.Assert) -> Fix:
    spelling, imports = spell(module.code(node), "tensorflow", "tf")
    message = module.segment(node.msg) if node.msg is not None else repr(module.segment(node.test))
    text = f"{spelling}.debugging.Assert({_condition(module, node.test, spelling)}, [{message}])"
    return fix(f"check with `{spelling}.debugging.Assert`", (Edit(module.location(node), text), *imports))


def _decorated(module: Module, function: FunctionInfo) -> Fix | None:
    """Add `@tf.function` to code that creates no weights: a loss, a metric function, a layer without sublayers."""
    node = function.node
    tracing = function.traced
    if isinstance(node, ast.Lambda) or node.decorator_list or tracing is None or not tracing.direct:
        return None
    if tracing.how not in ("loss", "metric", "call") or "tensorflow" not in dict(module.spellings):
        return None
    if function.owner is not None and (function.owner.kind == "Model" or _makes_something(module, function)):
        return None
    spelling, imports = spell(module.code(node), "tensorflow", "tf")
    return fix(
        f"decorate `{function.name}` with `@{spelling}.function` so that AutoGraph rewrites the branch",
        insert_before(module.code(node), f"@{spelling}.function"),
        imports,
    )


def _makes_something(module: Module, function: FunctionInfo) -> bool:
    """Return whether a layer calls sublayers or uses weights, which a `tf.function` may create too late."""
    for node in own_nodes(function):
        if isinstance(node, ast.expr) and is_variable(module, node):
            return True
        if isinstance(node, ast.Call) and not module.resolve(node.func):
            called = callee(module, node)
            if called is None and not (
                isinstance(node.func, ast.Attribute) and is_symbolic(module, node.func.value)
            ):
                return True
    return False


_RECURRENT = ("keras.layers.LSTM", "keras.layers.GRU", "keras.layers.SimpleRNN", "keras.layers.ConvLSTM2D")


def _without_state(module: Module, frame: Frame) -> Iterator[Finding]:
    """Find a recurrent layer whose single output a line unpacks: `outputs, h, c = LSTM(8)(x)`."""
    for node in module.nodes(ast.Assign):
        if not at_frame(module, node, frame) or not isinstance(node.targets[0], ast.Tuple):
            continue
        layer = module.made_by(node.value.func) if isinstance(node.value, ast.Call) else None
        if module.called(layer) in _RECURRENT and isinstance(layer, ast.Call):
            if argument_of(layer, "return_state") is None:
                yield CAUSE.finding(
                    f"`{module.segment(layer.func)}` returns only its output, but the code unpacks states from it: "
                    "`return_state` is not set",
                    module.location(layer),
                    Evidence("unpacked here", location=frame.location),
                    fix("set `return_state=True`", append_arguments(module.code(layer), "return_state=True")),
                    subject="unpacked tensor",
                )


_PLAIN = (ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Expr)


def _run_apart(
    module: Module, function: FunctionInfo, node: ast.If, condition: str, library: str
) -> Fix | None:
    """Rewrite an `if` that does more than select a value as a `cond` call, with a function per branch.

    The functions return the names that are read later.
    """
    scope, own = module.index.scopes[function.node], set(ast.walk(node))
    branches = [branch for branch in (node.body, node.orelse) if branch]
    stored = [stored_names(branch) for branch in branches]
    names = sorted(set().union(*stored), key=lambda name: _first(node, name))
    if not set(names).isdisjoint(scope.outer) or not all(
        _is_plain(module, node, branch) for branch in branches
    ):
        return None
    reads = {name: [read for read in module.reads.get(name, []) if read not in own] for name in names}
    given = [name for name in names if any(module.scope(read) is scope for read in reads[name])]
    before = [name for name in given if _is_defined_before(scope.bindings[name], node)]
    if any(
        name not in before and not (node.orelse and all(name in each for each in stored)) for name in given
    ):
        return None
    indent, values = indent_of(module, node), ", ".join(given)
    taken = "when_true" in module.reads or "when_true" in module.index.module.bindings
    lines, calls = [], []
    for name, branch in zip(("when_true", "when_false"), branches, strict=False):
        name += "_2" if taken else ""
        lines.append(f"{indent}def {name}({', '.join(before)}):")
        lines += module.places.lines[branch[0].lineno - 1 : branch[-1].end_lineno]
        lines += [f"{indent_of(module, branch[0])}return {values}", ""] if given else [""]
        calls.append(f"lambda: {name}({', '.join(before)})" if before else name)
    if len(calls) == 1:
        calls.append(f"lambda: ({values})" if len(given) > 1 else f"lambda: {values or None}")
    target = f"{values} = " if given else ""
    lines.append(f"{indent}{target}{library}.cond({condition}, {', '.join(calls)})")
    text = "\n".join(lines).removeprefix(indent)
    return fix(f"run the branch with `{library}.cond`", (Edit(module.location(node), text),))


def _first(node: ast.If, name: str) -> tuple[int, int]:
    stores = stored_names([*node.body, *node.orelse])
    return stores[name].lineno, stores[name].col_offset


def _is_defined_before(bindings: list[ast.AST], node: ast.If) -> bool:
    return any(
        isinstance(each, ast.arg) or getattr(each, "lineno", node.lineno) < node.lineno for each in bindings
    )


def _is_plain(module: Module, node: ast.If, branch: list[ast.stmt]) -> bool:
    """Return whether a branch is a plain block: it does not return, branch or write to an attribute."""
    if branch[0].lineno == node.lineno or not all(isinstance(each, _PLAIN) for each in branch):
        return False
    parts = [part for each in branch for part in ast.walk(each)]
    stores = [part for part in parts if isinstance(getattr(part, "ctx", None), ast.Store)]
    leaves = any(isinstance(part, (ast.Yield, ast.YieldFrom, ast.Await, ast.NamedExpr)) for part in parts)
    return not leaves and all(
        isinstance(part, (ast.Name, ast.Tuple, ast.List, ast.Starred)) for part in stores
    )
